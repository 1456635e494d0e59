package card

import (
	"bytes"
	"embed"
	"fmt"
	"sync"
	"unicode"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/language"
)

// The license stands beside the fonts in the binary too.
//
//go:embed fonts/*.woff fonts/OFL.txt
var fontFiles embed.FS

// The fonts, in the order in which a character looks for one.
const (
	latin = iota
	latinBold
	hebrew
	arabic
	devanagari
	thai
	cjk
	symbols
	fontCount
)

var fontNames = [fontCount]string{
	latin: "latin.woff", latinBold: "latin-bold.woff", hebrew: "hebrew.woff", arabic: "arabic.woff",
	devanagari: "devanagari.woff", thai: "thai.woff", cjk: "cjk.woff", symbols: "symbols.woff",
}

// scriptFonts are the fonts that their scripts take first, also for what several scripts have.
var scriptFonts = map[language.Script]int{
	language.Hebrew: hebrew, language.Arabic: arabic, language.Devanagari: devanagari, language.Thai: thai,
	language.Han: cjk, language.Hiragana: cjk, language.Katakana: cjk, language.Hangul: cjk,
}

// parsedFonts parses the fonts when the first card is drawn. It panics for a font that it cannot read: all
// are part of the binary.
var parsedFonts = sync.OnceValue(func() (fonts [fontCount]*font.Font) {
	for i, name := range fontNames {
		data, err := fontFiles.ReadFile("fonts/" + name)
		if err == nil {
			var face *font.Face
			if face, err = font.ParseTTF(bytes.NewReader(data)); err == nil {
				fonts[i] = face.Font
				continue
			}
		}
		panic(fmt.Errorf("the font %s: %w", name, err))
	}
	return fonts
})

// faces finds the font of each character. It is for one goroutine at a time.
type faces struct {
	all    [fontCount]*font.Face
	bold   bool
	script language.Script
}

func newFaces() *faces {
	f := new(faces)
	for i, parsed := range parsedFonts() {
		f.all[i] = font.NewFace(parsed)
	}
	return f
}

// SetScript sets the script of the text around the next characters.
func (f *faces) SetScript(script language.Script) { f.script = script }

// ResolveFace returns the face that draws a character. One that no font has gets the face of the replacement
// character; see presentable.
func (f *faces) ResolveFace(r rune) *font.Face {
	if i, ok := scriptFonts[f.script]; ok && f.has(i, r) {
		return f.all[i]
	}
	for i := range f.all {
		if f.has(i, r) {
			if i == latin && f.bold {
				return f.all[latinBold]
			}
			return f.all[i]
		}
	}
	return f.all[latin]
}

func (f *faces) has(i int, r rune) bool {
	_, ok := f.all[i].NominalGlyph(r)
	return ok
}

// isThin reports whether a bold text needs an outline around the glyphs of a face: only Latin has a bold font.
func (f *faces) isThin(face *font.Face) bool { return face != f.all[latinBold] }

// canDraw reports whether some font has a character. Spaces and joiners need no glyph.
func (f *faces) canDraw(r rune) bool {
	if unicode.IsSpace(r) || isJoiner(r) {
		return true
	}
	for i := range f.all {
		if f.has(i, r) {
			return true
		}
	}
	return false
}
