//go:build !race

package card

import (
	"bytes"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// picture draws a card.
func picture(c Card) *image.Paletted {
	p := painters.Get().(*painter)
	defer painters.Put(p)
	p.draw(c)
	drawn := *p.canvas.picture
	drawn.Pix = slices.Clone(drawn.Pix)
	return &drawn
}

// differences is the smallest box with all pixels in which two cards differ.
func differences(a, b *image.Paletted) (box image.Rectangle) {
	for y := range Height {
		ofA, ofB := a.Pix[y*a.Stride:][:Width], b.Pix[y*b.Stride:][:Width]
		if bytes.Equal(ofA, ofB) {
			continue
		}
		for x := range Width {
			if ofA[x] != ofB[x] {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// boxesOf are the boxes of n rows.
func boxesOf(n int) []image.Rectangle {
	p := &painter{canvas: newCanvas()}
	return p.rowBoxes(n)
}

// Two cards that differ in one text differ in the box of that text alone, for any number of rows.
func TestRowsKeepTheirBoxes(t *testing.T) {
	t.Parallel()
	hostile := []string{
		"\u202e\u202d\u2067\u2066abc", "a\nb\r\n\u2028c\u2029d\x00\x1b[31m", strings.Repeat("W", 5000), strings.Repeat("م", 5000),
		strings.Repeat("Z\u0334\u0311\u0316", 40),
		strings.Repeat("\u0e47", 100), strings.Repeat("e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301",
			12), strings.Repeat("﷽", 30), strings.Repeat("क्", 200), "\xff\xfe", strings.Repeat("\u200d", 300), "<script>alert(1)</script>",
	}
	for n := 1; n <= MaxRows; n++ {
		plain := picture(cardOf(names[:n]...))
		boxes := boxesOf(n)
		for i, text := range append(hostile, names[(n+3)%10]) {
			row := i % n
			c := cardOf(names[:n]...)
			c.Rows[row].Name, c.Rows[row].Member = text, text
			changed := differences(plain, picture(c))
			require.False(t, changed.Empty(), "%d rows, %q", n, text)
			require.True(t, changed.In(boxes[row]), "%d rows, %q: %v is not within %v", n, text, changed, boxes[row])
			c = cardOf(names[:n]...)
			c.Rows[row].Score = text
			changed = differences(plain, picture(c))
			require.True(t, changed.In(boxes[row]), "%d rows, the score %q: %v is not within %v", n, text, changed, boxes[row])
		}
	}
}

// The boxes of rows do not overlap, and leave the title and what is below the rows alone.
func TestRowBoxes(t *testing.T) {
	t.Parallel()
	for n := 1; n <= MaxRows; n++ {
		boxes := boxesOf(n)
		require.Len(t, boxes, n)
		for i, box := range boxes {
			require.True(t, box.In(image.Rect(margin, panelTop, Width-margin, panelBottom)), "%d of %d: %v", i, n, box)
			for _, other := range boxes[:i] {
				require.True(t, box.Intersect(other).Empty(), "%d of %d", i, n)
			}
		}
	}
}

// Titles and the texts at the edges stay outside of the rows, however long they are.
func TestTextsAtTheEdges(t *testing.T) {
	t.Parallel()
	plain := picture(cardOf(names...))
	rows := image.Rect(margin, panelTop, Width-margin, panelBottom)
	for _, text := range []string{strings.Repeat("Wide title ", 60), strings.Repeat("عنوان ", 60),
		strings.Repeat("A\u0301\u0302\u0303\u0323\u0331", 60), "\u202eabc"} {
		for name, set := range map[string]func(c *Card){
			"title": func(c *Card) { c.Title = text }, "subtitle": func(c *Card) { c.Subtitle = text },
			"left": func(c *Card) { c.Left = text }, "right": func(c *Card) { c.Right = text },
		} {
			c := cardOf(names...)
			set(&c)
			changed := differences(plain, picture(c))
			require.False(t, changed.Empty(), name)
			require.True(t, changed.Intersect(rows).Empty(), "%s %q: %v", name, text, changed)
			require.True(t, changed.In(image.Rect(margin, 0, Width-margin, Height)), "%s %q: %v", name, text, changed)
		}
	}
}

// A name and a score never touch: there are 20 px between them, and a long one gives way.
func TestScoreAndNameStayApart(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 5, 10} {
		box := boxesOf(n)[0]
		with := func(name, score string) *image.Paletted {
			c := cardOf(names[:n]...)
			c.Rows[0].Name, c.Rows[0].Score = name, score
			return picture(c)
		}
		for _, score := range []string{"1", "9,007,199,254,740,991", "-9,007,199,254,740,991 sixteen characters"} {
			both, bare := with(strings.Repeat("W", 100), score), with(" ", score)
			empty := 0
			widest := 0
			for x := box.Min.X + rowPadding + 90; x < box.Max.X-rowPadding; x++ {
				column := true
				for y := box.Min.Y + 2; y < box.Max.Y-2; y++ {
					column = column && both.ColorIndexAt(x, y) == uint8(panelOnPaper)*steps+steps-1
				}
				if empty++; !column {
					empty = 0
				}
				widest = max(widest, empty)
			}
			require.GreaterOrEqual(t, widest, 16, "%d rows, %s", n, score)
			if score == "1" {
				require.True(t, differences(both, bare).Max.X < box.Max.X-rowPadding-10, "the score is the same")
			}
		}
	}
}

// A card of columns draws nothing outside of its panel, and the figures of a column stay in their place, however long its head is.
func TestTableKeepsItsPlaces(t *testing.T) {
	t.Parallel()
	of := func(columns int, head, value string) Card {
		c := cardOf(names[:tableRows+1]...)
		for range columns {
			c.Heads = append(c.Heads, "Goals")
			for i := range c.Rows {
				c.Rows[i].Values = append(c.Rows[i].Values, "12")
			}
		}
		c.Heads[columns-1], c.Rows[0].Values[columns-1] = head, value
		return c
	}
	panel := image.Rect(margin, panelTop, Width-margin, panelBottom)
	for _, columns := range []int{2, 8} {
		plain := picture(of(columns, "Goals", "12"))
		for _, text := range []string{strings.Repeat("W", 80), "\u202eabc", "x"} {
			require.True(t, differences(plain, picture(of(columns, text, "12"))).In(panel), "%d columns, the head %q", columns, text)
			require.True(t, differences(plain, picture(of(columns, "Goals", text))).In(panel), "%d columns, the value %q", columns, text)
		}
		changed := differences(plain, picture(of(columns, "Goals", "13")))
		require.False(t, changed.Empty())
		require.Less(t, changed.Dx(), 80, "%d columns: only one figure has changed", columns)
	}
}

// Different texts give different pictures: no name or score is lost. Equal cards give equal bytes.
func TestCardsDiffer(t *testing.T) {
	t.Parallel()
	seen := make(map[string]string)
	draw := func(c Card) string {
		b, err := Draw(c)
		require.NoError(t, err)
		return string(b)
	}
	for _, name := range append(names, "ᏣᎳᎩ", "Ana", "Änä", "ana", "علي محمد", "1", "12") {
		c := cardOf(name)
		b := draw(c)
		require.Empty(t, seen[b], name)
		seen[b] = name
		require.Equal(t, b, draw(c), name)
	}
	require.Equal(t, draw(cardOf(names...)), draw(cardOf(append(names, "one more")...)), "a card shows ten rows")
	c := cardOf("Ana")
	c.Rows[0].Score = "20,001"
	require.Empty(t, seen[draw(c)])
	c.Rows[0].Medal = 0
	require.Empty(t, seen[draw(c)])
	empty := draw(Card{Title: "Stars", Empty: "No scores yet"})
	require.NotEqual(t, empty, draw(Card{Title: "Stars", Empty: "No scores"}))
}

// The PNG of a card has the pixels that were drawn.
func TestEncodedCard(t *testing.T) {
	t.Parallel()
	b, err := Draw(cardOf(names...))
	require.NoError(t, err)
	decoded, err := png.Decode(bytes.NewReader(b))
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, Width, Height), decoded.Bounds())
	drawn := picture(cardOf(names...))
	require.Equal(t, drawn.Pix, decoded.(*image.Paletted).Pix)
	require.Equal(t, palette, decoded.(*image.Paletted).Palette)
}

// The license of the fonts is part of the binary, and so small that they fit: 2.1 MB.
func TestFontFiles(t *testing.T) {
	t.Parallel()
	license, err := fontFiles.ReadFile("fonts/OFL.txt")
	require.NoError(t, err)
	require.Contains(t, string(license), "SIL OPEN FONT LICENSE Version 1.1")
	size := 0
	for _, name := range fontNames {
		b, err := fontFiles.ReadFile("fonts/" + name)
		require.NoError(t, err)
		size += len(b)
		require.Contains(t, string(license), name)
	}
	require.Less(t, size, 2_100_000)
}

func BenchmarkDraw(b *testing.B) {
	for name, c := range map[string]Card{"ten-scripts": cardOf(names...), "ten-latin": cardOf("Ana", "Ben", "Cleo", "Dan", "Eve",
		"Fay", "Gus", "Hal", "Ida", "Joe"), "empty": cardOf(),
		"ten-longest": cardOf(slices.Repeat([]string{strings.Repeat("क्षि", 40)}, 10)...)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				drawn, err := Draw(c)
				require.NoError(b, err)
				size = len(drawn)
			}
			b.ReportMetric(float64(size), "bytes/card")
		})
	}
}

// Any text can be drawn, and changes the box of its own row alone.
func FuzzRow(f *testing.F) {
	for _, name := range append(names, "\u202eabc", "क्\u200dष", "\xff", "e\u0301\u0301", "ﷺ", "🎉", "\u1100\u1161\u11a8", "x אב 12 abc ١٢") {
		f.Add(name, "1,234")
		f.Add("Ana", name)
	}
	plain := picture(cardOf(names[:6]...))
	box := boxesOf(6)[1]
	f.Fuzz(func(t *testing.T, name, score string) {
		c := cardOf(names[:6]...)
		c.Rows[1].Name, c.Rows[1].Member, c.Rows[1].Score = name, name, score
		changed := differences(plain, picture(c))
		require.True(t, changed.In(box), "%q %q: %v is not within %v", name, score, changed, box)
	})
}
