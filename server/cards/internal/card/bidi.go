package card

import (
	"slices"

	"github.com/go-text/typesetting/bidi"
	"github.com/go-text/typesetting/di"
	unicodebidi "golang.org/x/text/unicode/bidi"
)

// classOf is the bidirectional class of a character.
func classOf(r rune) unicodebidi.Class {
	properties, _ := unicodebidi.LookupRune(r)
	return properties.Class()
}

// isRightToLeft reports whether the first strong character of a text is of a script from right to left.
func isRightToLeft(runes []rune) bool {
	for _, r := range runes {
		switch classOf(r) {
		case unicodebidi.L:
			return false
		case unicodebidi.R, unicodebidi.AL:
			return true
		}
	}
	return false
}

// levelRun is a part of a text with one level of the Unicode bidirectional algorithm.
type levelRun struct {
	start, end int
	level      bidi.Level
}

func (r levelRun) direction() di.Direction {
	if r.level%2 == 1 {
		return di.DirectionRTL
	}
	return di.DirectionLTR
}

// levelRuns splits a text by level. The library joins runs of one direction, also if their levels differ. So it
// takes a number within a text from right to left for a part of the text from left to right that follows.
// numberLevels finds those numbers.
func (t *typesetter) levelRuns(runes []rune) (all []levelRun) {
	levels := make([]bidi.Level, len(runes))
	base := bidi.LeftToRight
	if isRightToLeft(runes) {
		base = bidi.RightToLeft
	}
	runs := t.levels.Segment(runes, base)
	for i := range runs.NumRuns() {
		run := runs.Run(i)
		level := bidi.Level(1)
		if run.IsLeftToRight() {
			level = 0
			if base == bidi.RightToLeft {
				level = 2
			}
		}
		for at := run.Start; at < run.End; at++ {
			levels[at] = level
		}
	}
	if base == bidi.LeftToRight {
		numberLevels(runes, levels)
	}
	for i, level := range levels {
		if i > 0 && levels[i-1] == level {
			all[len(all)-1].end++
			continue
		}
		all = append(all, levelRun{i, i + 1, level})
	}
	return all
}

// numberLevels raises the level of numbers within a text from left to right that follow characters from right to
// left, or have Arabic digits: rules W2 to W7 and I1. The text has no embeddings: clean has removed them.
func numberLevels(runes []rune, levels []bidi.Level) {
	afterRightToLeft := false // by the last strong character
	isNumber := func(i int) bool { return i >= 0 && i < len(levels) && levels[i] == 2 }
	for i, r := range runes {
		switch class := classOf(r); {
		case class == unicodebidi.L:
			afterRightToLeft = false
		case class == unicodebidi.R, class == unicodebidi.AL:
			afterRightToLeft = true
		case levels[i] == 0 && (class == unicodebidi.AN || class == unicodebidi.EN && afterRightToLeft):
			levels[i] = 2
			switch between := i - 1; {
			case between < 0:
			case levels[between] == 0 && isNumber(i-2) && slices.Contains([]unicodebidi.Class{unicodebidi.CS, unicodebidi.ES},
				classOf(runes[between])):
				levels[between] = 2
			case class == unicodebidi.EN:
				for at := between; at >= 0 && levels[at] == 0 && classOf(runes[at]) == unicodebidi.ET; at-- {
					levels[at] = 2
				}
			}
		case levels[i] == 0 && isNumber(i-1) && (class == unicodebidi.ET || class == unicodebidi.NSM):
			levels[i] = 2
		}
	}
}

// reorder puts the parts of a text in the order in which a reader sees them, from left to right: rule L2 of the
// Unicode bidirectional algorithm. The glyphs within a part are in that order already.
func reorder[T any](parts []T, levels []bidi.Level) {
	if len(levels) == 0 {
		return
	}
	for level := slices.Max(levels); level > 0; level-- {
		for i := 0; i < len(levels); i++ {
			end := i
			for end < len(levels) && levels[end] >= level {
				end++
			}
			slices.Reverse(parts[i:end])
			slices.Reverse(levels[i:end])
			i = max(i, end)
		}
	}
}
