package pages

import (
	"fmt"
	"regexp"
	"strconv"
	"unicode/utf8"

	"rankcast/ranking/definition"
)

// overlayChoices are the options of the overlay that the server renders, as attributes data-… of <html>. The first value of
// each is the default. web/assets/overlay/options.js has all options.
var overlayChoices = map[string][]string{
	"mode":  {"list", "compact", "me", "goal"},
	"theme": {"dark", "light", "clear"},
	"place": {"top-left", "top", "top-right", "left", "center", "right", "bottom-left", "bottom", "bottom-right"},
	"face":  {"sans", "serif", "round", "narrow", "mono"},
	"ends":  {"on", "off"}, "avatars": {"on", "off"}, "motion": {"full", "calm"},
}

// accentForm is a color, as CSS writes it after #.
var accentForm = regexp.MustCompile(`^(?i:[0-9a-f]{3}|[0-9a-f]{6})$`)

// maxOverlayTitle and maxOverlayUnit bound texts in the address of an overlay, in characters.
const maxOverlayTitle, maxOverlayUnit = 80, 20

// lookView is how the address of an overlay has it look. Title and Unit are those of the board unless HasTitle and HasUnit.
type lookView struct {
	Data              map[string]string
	Scale             string // of texts, as CSS has it; "" for 1
	Accent            string // "" for that of the theme
	Title, Unit       string
	HasTitle, HasUnit bool
	HasBar            bool // there is a line for the title or for the time that is left
}

func (f *filler) look() lookView {
	v := lookView{Data: make(map[string]string, len(overlayChoices))}
	for name, values := range overlayChoices {
		v.Data[name] = f.oneOf(name, values...)
	}
	if percent, err := strconv.Atoi(f.query.Get("scale")); err == nil && percent >= 0 {
		v.Scale = fmt.Sprintf("%.2f", float64(min(max(percent, 50), 300))/100)
	}
	if accent := f.query.Get("accent"); accentForm.MatchString(accent) {
		v.Accent = accent
	}
	v.Title, v.HasTitle = f.textOf("title", maxOverlayTitle)
	v.Unit, v.HasUnit = f.textOf("unit", maxOverlayUnit)
	return v
}

// textOf returns a text in the URL that may be empty, and whether it is there and not too long.
func (f *filler) textOf(name string, most int) (text string, isThere bool) {
	if text = f.query.Get(name); !f.query.Has(name) || utf8.RuneCountInString(text) > most {
		return "", false
	}
	return text, true
}

// overlay fills the overlay. Its mode list has rows; the others need a board for its title and its end alone.
func (f *filler) overlay() {
	v := f.first(f.board)
	v.Look = f.look()
	v.Data = v.Look.Data
	isList, top, me := v.Data["mode"] == "list", 1, ""
	if isList {
		top, me = f.top(overlayTop, 1, 100), f.me("me")
	}
	b := f.read(v, f.board, top, me, 0)
	if b != nil && isList && v.Look.HasUnit {
		d := &b.about.Definition.Display
		if d.Unit = nil; v.Look.Unit != "" {
			d.Unit = definition.Label{"": v.Look.Unit}
		}
		v.Board = f.boardView(f.board, b, top, me)
	}
	if !v.Look.HasTitle {
		v.Look.Title = v.Title
	}
	isCard := v.Data["mode"] == "me" // its script shows it
	v.Look.HasBar = !isCard && (v.Look.Title != "" || v.Data["ends"] == "on" && v.Board != nil && v.Board.HasEnd)
	if !isList {
		v.Board = nil
	}
}

// builder fills the page that makes overlays of a board.
func (f *filler) builder() {
	f.read(f.first(f.board), f.board, 1, "", 0)
}
