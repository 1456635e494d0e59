// Package card draws a board as a picture for previews of links: a PNG of 1200 × 630 pixels. It is pure: it
// reads nothing, and knows nothing of HTTP.
//
// A text goes through these steps: clean removes what could change the text around it; fonts.go finds a font
// for each character; line.go splits the text by direction, script and font, shapes each part with HarfBuzz,
// shortens the whole to its width, and orders the parts; canvas.go fills the outlines of the glyphs. Each
// text is a paragraph of its own and is drawn within a box of its own, so that no text changes another one.
//
// The picture has a palette: of each color of text and each color behind it, the steps in between. That
// makes it a third of the bytes of a picture without one, and three times as fast to encode.
//
//	card.go    what a card shows, and its layout
//	text.go    the text that a card shows for a name
//	fonts.go   the shipped fonts
//	line.go    one line of text: shaping, width, order
//	canvas.go  the picture: boxes, outlines, palette
package card
