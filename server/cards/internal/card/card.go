package card

import (
	"image"
	"sync"

	"golang.org/x/image/vector"
)

// The size of a card, px: what sites that show previews ask for.
const (
	Width  = 1200
	Height = 630
)

// MaxRows is the most rows that a card has room for. Draw leaves out further ones.
const MaxRows = 10

// Card is what a card shows. All texts may be of anybody: Draw makes one line of each, and shortens one that is
// too long.
type Card struct {
	Title    string
	Subtitle string   // below the title; may be ""
	Heads    []string // of the columns of a score; nil: a score is one text
	Rows     []Row
	Empty    string // stands in place of rows if there are none
	Left     string // below the rows; may be "", like Right
	Right    string
}

// Row is a row of a card.
type Row struct {
	Rank   string
	Medal  int    // 1 to 3: gold, silver, bronze; else none
	Name   string // of the member; may be ""
	Member string // id of the member, which stands for a name that the fonts cannot draw
	Score  string
	Values []string // of the columns of the score, beside Heads; they stand in the place of Score
}

// painter draws cards, one at a time.
type painter struct {
	typesetter typesetter
	canvas     *canvas
}

// painters keep their buffers, about 4 MB each, for the next card.
var painters = sync.Pool{New: func() any {
	return &painter{typesetter: typesetter{faces: newFaces()}, canvas: newCanvas()}
}}

// Draw returns a card as PNG. Equal cards give equal bytes. It may be called concurrently.
func Draw(c Card) ([]byte, error) {
	p := painters.Get().(*painter)
	p.draw(c)
	b, err := p.canvas.encode()
	painters.Put(p) // not one that has panicked
	return b, err
}

// The layout, px.
const (
	margin       = 56
	panelTop     = 184
	panelBottom  = 562
	panelRadius  = 20
	markSize     = 56
	rowPadding   = 28
	columnRows   = 5 // more rows stand in two columns
	maxRowHeight = 108
)

func (p *painter) draw(c Card) {
	p.canvas.clear()
	inner := image.Rect(margin, 0, Width-margin, Height)
	p.mark(image.Rect(inner.Max.X-markSize, 58, inner.Max.X, 58+markSize))
	p.textIn(image.Rect(inner.Min.X, 48, inner.Max.X-markSize-28, 130), style{54, true}, titleOnPaper, p.present(c.Title), alignLeft)
	p.textIn(image.Rect(inner.Min.X, 126, inner.Max.X-markSize-28, 172), style{27, false}, quietOnPaper, p.present(c.Subtitle), alignLeft)
	middle := inner.Min.X + inner.Dx()/2
	p.textIn(image.Rect(inner.Min.X, 572, middle, 616), style{23, false}, quietOnPaper, p.present(c.Left), alignLeft)
	p.textIn(image.Rect(middle, 572, inner.Max.X, 616), style{23, false}, quietOnPaper, p.present(c.Right), alignRight)
	rows := c.Rows[:min(len(c.Rows), MaxRows)]
	if len(rows) == 0 {
		p.empty(image.Rect(inner.Min.X, panelTop, inner.Max.X, panelBottom), c.Empty)
		return
	}
	if len(c.Heads) > 0 {
		p.table(c.Heads, rows)
		return
	}
	for i, box := range p.rowBoxes(len(rows)) {
		p.row(box, rows[i])
	}
}

// present is the text that stands for a text of a card; "" for none.
func (p *painter) present(text string) string {
	if text == "" {
		return ""
	}
	return p.typesetter.faces.presentable(text)
}

// mark draws the mark of the pages, web/assets/shared/favicon.svg.
func (p *painter) mark(box image.Rectangle) {
	unit := float32(box.Dx()) / 32
	p.canvas.rectangle(box, 7.5*unit, accentOnPaper)
	bar := func(left, top, height float32, with ink) {
		p.canvas.fill(box, with, func(r *vector.Rasterizer) {
			roundRectangle(r, left*unit, top*unit, (left+5.5)*unit, (top+height)*unit, 1.75*unit)
		})
	}
	bar(6, 16, 10, markOnAccent)
	bar(13.25, 9, 17, leadOnAccent)
	bar(20.5, 19.5, 6.5, markOnAccent)
}

// panel draws the box behind rows.
func (p *painter) panel(box image.Rectangle) {
	p.canvas.rectangle(box, panelRadius, edgeOnPaper)
	p.canvas.rectangle(box.Inset(2), panelRadius-2, panelOnPaper)
}

// empty draws the box of a board without scores.
func (p *painter) empty(box image.Rectangle, text string) {
	p.panel(box)
	const width, gap = 64, 18
	left := box.Min.X + (box.Dx()-3*width-2*gap)/2
	for i, height := range []int{74, 110, 52} {
		bar := image.Rect(left, box.Min.Y+190-height, left+width, box.Min.Y+190)
		p.canvas.rectangle(bar, 14, [...]ink{silverOnPanel, goldOnPanel, bronzeOnPanel}[i])
		left += width + gap
	}
	p.textIn(image.Rect(box.Min.X+rowPadding, box.Min.Y+218, box.Max.X-rowPadding, box.Min.Y+300), style{38, false}, quietOnPanel,
		p.present(text), alignCenter)
}

// rowBoxes draws the box behind n rows, with the lines between them, and returns the box of each row.
func (p *painter) rowBoxes(n int) []image.Rectangle {
	columns, perColumn := 1, n
	if n > columnRows {
		columns, perColumn = 2, (n+1)/2
	}
	panel := image.Rect(margin, panelTop, Width-margin, panelBottom)
	p.panel(panel)
	width, height := panel.Dx()/columns, min(maxRowHeight, panel.Dy()/perColumn)
	top := panel.Min.Y + (panel.Dy()-perColumn*height)/2
	boxes := make([]image.Rectangle, n)
	for i := range boxes {
		at := image.Pt(panel.Min.X+i/perColumn*width, top+i%perColumn*height)
		boxes[i] = image.Rectangle{at, at.Add(image.Pt(width, height))}
		if i%perColumn > 0 {
			p.canvas.fill(image.Rect(at.X+rowPadding, at.Y, at.X+width-rowPadding, at.Y+2), lineOnPanel, fillAll)
		}
	}
	if columns > 1 {
		p.canvas.fill(image.Rect(panel.Min.X+width-1, panel.Min.Y+rowPadding, panel.Min.X+width+1, panel.Max.Y-rowPadding), lineOnPanel, fillAll)
	}
	return boxes
}

// fillAll adds an outline around all of the widest box.
func fillAll(r *vector.Rasterizer) {
	size := r.Size()
	roundRectangle(r, 0, 0, float32(size.X), float32(size.Y), 0)
}

// row draws a row within its box.
func (p *painter) row(box image.Rectangle, row Row) {
	inside, name, of := p.place(box, row)
	nameLeft := inside.Min.X
	room := float32(inside.Dx() - 22) // of name and score, without the space between them
	nameWidth := p.typesetter.shape([]rune(name), of).width
	score := p.present(row.Score)
	scoreStyle := p.fit(score, of, room-min(nameWidth, room*0.4))
	scoreWidth := min(p.typesetter.shape([]rune(score), scoreStyle).width, room*0.75)
	scoreLeft := inside.Max.X - int(scoreWidth) - 2
	p.textIn(image.Rect(scoreLeft, inside.Min.Y, inside.Max.X, inside.Max.Y), scoreStyle, inkOnPanel, score, alignRight)
	p.textIn(image.Rect(nameLeft, inside.Min.Y, scoreLeft-20, inside.Max.Y), of, inkOnPanel, name, alignLeft)
}

// place draws the rank of a row. It returns the rest of its box, and the name to draw there with its style.
func (p *painter) place(box image.Rectangle, row Row) (rest image.Rectangle, name string, of style) {
	inside := image.Rect(box.Min.X+rowPadding, box.Min.Y+2, box.Max.X-rowPadding, box.Max.Y)
	size := rowSize(box.Dy())
	badge := int(size) * 8 / 5
	middle := (inside.Min.Y + inside.Max.Y) / 2
	place := image.Rect(inside.Min.X, middle-badge/2, inside.Min.X+badge, middle-badge/2+badge)
	number, bold := quietOnPanel, row.Medal >= 1 && row.Medal <= 3
	if bold {
		p.canvas.rectangle(place, float32(badge)/2, [...]ink{goldOnPanel, silverOnPanel, bronzeOnPanel}[row.Medal-1])
		number = [...]ink{inkOnGold, inkOnSilver, inkOnBronze}[row.Medal-1]
	}
	p.textIn(place.Inset(2), p.fit(row.Rank, style{float32(int(size) * 7 / 8), bold}, float32(badge)*0.8), number, row.Rank, alignCenter)

	name = p.typesetter.faces.presentable(row.Member)
	if row.Name != "" {
		name = p.typesetter.faces.presentable(row.Name, row.Member)
	}
	inside.Min.X = place.Max.X + 18
	return inside, name, style{size, bold}
}

// rowSize is the size of the font in a row of a height, px.
func rowSize(height int) float32 { return float32(min(height*2/5, 40)) }

// fit is a style in which a text has a width, with a font that is at least half as large.
func (p *painter) fit(text string, s style, width float32) style {
	if full := p.typesetter.shape([]rune(text), s).width; full > width {
		s.size = float32(max(int(s.size/2), int(s.size*width/full)))
	}
	return s
}

type align int

const (
	alignLeft align = iota
	alignCenter
	alignRight
)

// textIn draws a text in the middle of the height of a box, and nothing outside of it.
func (p *painter) textIn(box image.Rectangle, s style, with ink, text string, to align) {
	l := p.typesetter.line(text, s, float32(box.Dx()))
	left := float32(box.Min.X)
	switch to {
	case alignCenter:
		left += (float32(box.Dx()) - l.width) / 2
	case alignRight:
		left += float32(box.Dx()) - l.width
	}
	const capHeight = 0.714 // of Noto Sans, in its size: the middle of the capitals is in the middle of the box
	baseline := float32(box.Min.Y+box.Max.Y)/2 + s.size*capHeight/2
	p.canvas.text(l, box, left, baseline, with, p.typesetter.faces.isThin)
}
