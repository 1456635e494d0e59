package card

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"sync"

	"github.com/go-text/typesetting/font"
	ot "github.com/go-text/typesetting/font/opentype"
	"golang.org/x/image/vector"
)

// ink is a color on another one. The palette has steps for each.
type ink int

const (
	panelOnPaper ink = iota
	edgeOnPaper
	titleOnPaper
	quietOnPaper
	accentOnPaper
	markOnAccent
	leadOnAccent
	lineOnPanel
	inkOnPanel
	quietOnPanel
	goldOnPanel
	silverOnPanel
	bronzeOnPanel
	inkOnGold
	inkOnSilver
	inkOnBronze
	inkCount
)

// The colors of the pages, in web/assets/shared/base.css and web/kit/style.css.
var (
	paper  = color.RGBA{0xf6, 0xf4, 0xee, 0xff}
	panel  = color.RGBA{0xff, 0xfe, 0xfb, 0xff}
	dark   = color.RGBA{0x1d, 0x21, 0x1f, 0xff}
	quiet  = color.RGBA{0x64, 0x6a, 0x66, 0xff}
	edge   = color.RGBA{0xe2, 0xdf, 0xd6, 0xff}
	accent = color.RGBA{0x17, 0x69, 0x4b, 0xff}
	mint   = color.RGBA{0xcf, 0xe3, 0xd6, 0xff}
	gold   = color.RGBA{0xf1, 0xd4, 0x8a, 0xff}
	silver = color.RGBA{0xd9, 0xdd, 0xdd, 0xff}
	bronze = color.RGBA{0xe6, 0xbf, 0x9e, 0xff}
	medal  = color.RGBA{0x2a, 0x24, 0x15, 0xff}
)

var inks = [inkCount]struct{ back, front color.RGBA }{
	panelOnPaper: {paper, panel}, edgeOnPaper: {paper, edge}, titleOnPaper: {paper, dark}, quietOnPaper: {paper, quiet},
	accentOnPaper: {paper, accent}, markOnAccent: {accent, mint}, leadOnAccent: {accent, gold},
	lineOnPanel: {panel, edge}, inkOnPanel: {panel, dark}, quietOnPanel: {panel, quiet},
	goldOnPanel: {panel, gold}, silverOnPanel: {panel, silver}, bronzeOnPanel: {panel, bronze},
	inkOnGold: {gold, medal}, inkOnSilver: {silver, medal}, inkOnBronze: {bronze, medal},
}

// steps are the colors from the one behind a text to that of the text. 16 for each of 16 inks fill a palette.
const steps = 16

var palette = func() (p color.Palette) {
	for _, ink := range inks {
		mix := func(back, front uint8, step int) uint8 {
			return uint8((int(back)*(steps-1-step) + int(front)*step + (steps-1)/2) / (steps - 1))
		}
		for step := range steps {
			p = append(p, color.RGBA{mix(ink.back.R, ink.front.R, step), mix(ink.back.G, ink.front.G, step),
				mix(ink.back.B, ink.front.B, step), 0xff})
		}
	}
	return p
}()

// canvas is a picture that is drawn. It is for one goroutine at a time.
type canvas struct {
	picture *image.Paletted
	mask    *image.Alpha // of the shape that is drawn
	raster  vector.Rasterizer
}

func newCanvas() *canvas {
	return &canvas{picture: image.NewPaletted(image.Rect(0, 0, Width, Height), palette), mask: image.NewAlpha(image.Rect(0, 0, Width, Height))}
}

// clear fills the picture with paper.
func (c *canvas) clear() {
	for i := range c.picture.Pix {
		c.picture.Pix[i] = uint8(panelOnPaper) * steps
	}
}

// fill draws a shape within a box. draw adds the outlines, from the box's upper left corner. Nothing outside of
// the box changes.
func (c *canvas) fill(box image.Rectangle, with ink, draw func(r *vector.Rasterizer)) {
	if box = box.Intersect(c.picture.Rect); box.Empty() {
		return
	}
	c.raster.Reset(box.Dx(), box.Dy())
	draw(&c.raster)
	c.mask.Pix = c.mask.Pix[:box.Dx()*box.Dy()]
	c.mask.Stride, c.mask.Rect = box.Dx(), image.Rect(0, 0, box.Dx(), box.Dy())
	clear(c.mask.Pix)
	c.raster.Draw(c.mask, c.mask.Rect, image.Opaque, image.Point{})
	for y := range box.Dy() {
		from := c.mask.Pix[y*box.Dx() : (y+1)*box.Dx()]
		to := c.picture.Pix[c.picture.PixOffset(box.Min.X, box.Min.Y+y):]
		for x, coverage := range from {
			if step := (int(coverage)*(steps-1) + 127) / 255; step > 0 {
				to[x] = uint8(int(with)*steps + step)
			}
		}
	}
}

// rectangle draws a rectangle with round corners.
func (c *canvas) rectangle(box image.Rectangle, radius float32, with ink) {
	c.fill(box, with, func(r *vector.Rasterizer) { roundRectangle(r, 0, 0, float32(box.Dx()), float32(box.Dy()), radius) })
}

// roundRectangle adds the outline of a rectangle with round corners.
func roundRectangle(r *vector.Rasterizer, left, top, right, bottom, radius float32) {
	k := radius * 0.4477 // of a circle as four cubic curves: 1 − 0.5523
	r.MoveTo(left+radius, top)
	r.LineTo(right-radius, top)
	r.CubeTo(right-k, top, right, top+k, right, top+radius)
	r.LineTo(right, bottom-radius)
	r.CubeTo(right, bottom-k, right-k, bottom, right-radius, bottom)
	r.LineTo(left+radius, bottom)
	r.CubeTo(left+k, bottom, left, bottom-k, left, bottom-radius)
	r.LineTo(left, top+radius)
	r.CubeTo(left, top+k, left+k, top, left+radius, top)
	r.ClosePath()
}

// text draws a line within a box, from a place in it: of the left end of the line, and of its baseline. thin
// reports whether a bold text needs an outline around the glyphs of a face.
func (c *canvas) text(l line, box image.Rectangle, left, baseline float32, with ink, thin func(*font.Face) bool) {
	c.fill(box, with, func(r *vector.Rasterizer) {
		x := left - float32(box.Min.X)
		y := baseline - float32(box.Min.Y)
		for _, part := range l.parts {
			scale := l.style.size / float32(part.Face.Upem())
			bolder := float32(0)
			if l.style.bold && thin(part.Face) {
				bolder = l.style.size / 36
			}
			for _, g := range part.Glyphs {
				if outline, ok := part.Face.GlyphDataOutline(g.GlyphID); ok {
					atX, atY := x+float32(g.XOffset)/64, y-float32(g.YOffset)/64
					addOutline(r, outline, atX, atY, scale)
					if bolder > 0 { // browsers make a bold face in the same way
						addOutline(r, outline, atX+bolder, atY, scale)
					}
				}
				x += float32(g.Advance) / 64
			}
		}
	})
}

// addOutline adds the outline of a glyph, whose origin is at x, y.
func addOutline(r *vector.Rasterizer, outline font.GlyphOutline, x, y, scale float32) {
	for _, s := range outline.Segments {
		var p [3]struct{ x, y float32 }
		for i, at := range s.ArgsSlice() {
			p[i].x, p[i].y = x+at.X*scale, y-at.Y*scale
		}
		switch s.Op {
		case ot.SegmentOpMoveTo:
			r.ClosePath()
			r.MoveTo(p[0].x, p[0].y)
		case ot.SegmentOpLineTo:
			r.LineTo(p[0].x, p[0].y)
		case ot.SegmentOpQuadTo:
			r.QuadTo(p[0].x, p[0].y, p[1].x, p[1].y)
		case ot.SegmentOpCubeTo:
			r.CubeTo(p[0].x, p[0].y, p[1].x, p[1].y, p[2].x, p[2].y)
		}
	}
	r.ClosePath()
}

// encoderBuffers are the buffers of the PNG encoder, for the next card.
type encoderBuffers sync.Pool

func (b *encoderBuffers) Get() *png.EncoderBuffer {
	buffer, _ := (*sync.Pool)(b).Get().(*png.EncoderBuffer)
	return buffer
}

func (b *encoderBuffers) Put(buffer *png.EncoderBuffer) { (*sync.Pool)(b).Put(buffer) }

var encoder = png.Encoder{CompressionLevel: png.DefaultCompression, BufferPool: new(encoderBuffers)}

// encode returns the picture as PNG.
func (c *canvas) encode() ([]byte, error) {
	var b bytes.Buffer
	err := encoder.Encode(&b, c.picture)
	return b.Bytes(), err
}
