package card

import (
	"slices"

	"github.com/go-text/typesetting/bidi"
	"github.com/go-text/typesetting/segmenter"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
)

const ellipsis = '…'

// style is how a text looks.
type style struct {
	size float32 // px, whole: the shaper knows no fractions
	bold bool
}

// typesetter makes lines of texts. It is for one goroutine at a time.
type typesetter struct {
	faces     *faces
	segmenter shaping.Segmenter
	shaper    shaping.HarfbuzzShaper
	levels    bidi.Paragraph
	graphemes segmenter.Segmenter
}

// line is a text in one line, ready to draw: its parts from left to right.
type line struct {
	parts []shaping.Output
	style style
	width float32 // px
}

// line makes a line of a text that clean has cleaned, at most so many pixels wide. A longer text ends with an
// ellipsis.
func (t *typesetter) line(text string, s style, width float32) line {
	runes := []rune(text)
	whole := t.shape(runes, s)
	if whole.width <= width {
		return whole
	}
	ends := t.ends(runes)
	shortest := t.shape([]rune{ellipsis}, s)
	// The longest beginning that fits: the width of a beginning grows with its length, but for a ligature.
	low, high := 0, len(ends)
	for low < high {
		middle := (low + high) / 2
		l := t.shape(append(slices.Clone(runes[:ends[middle]]), ellipsis), s)
		if l.width <= width {
			shortest, low = l, middle+1
		} else {
			high = middle
		}
	}
	return shortest
}

// ends are the places at which a text may be cut: between the characters as readers see them, of which each
// may be several runes.
func (t *typesetter) ends(runes []rune) (ends []int) {
	t.graphemes.Init(runes)
	for i := t.graphemes.GraphemeIterator(); i.Next(); {
		g := i.Grapheme()
		ends = append(ends, g.Offset+len(g.Text))
	}
	return ends
}

// shape shapes a text. Its direction is that of its first strong character, and left to right without one.
func (t *typesetter) shape(runes []rune, s style) line {
	l := line{style: s}
	t.faces.bold = s.bold
	var levels []bidi.Level
	for _, run := range t.levelRuns(runes) {
		for _, input := range t.segmenter.Split(shaping.Input{
			Text: runes, RunStart: run.start, RunEnd: run.end, Direction: run.direction(), Size: fixed.Int26_6(s.size * 64), Language: "en",
		}, t.faces) {
			part := t.shaper.ShapeNoExtents(input)
			l.width += float32(part.Advance) / 64
			l.parts = append(l.parts, part)
			levels = append(levels, run.level)
		}
	}
	reorder(l.parts, levels)
	return l
}
