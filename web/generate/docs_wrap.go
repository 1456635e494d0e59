package main

import (
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// Lengths, in bytes, up to which code stays on one line.
const (
	maxWholeCode = 32 // in a text: it fits a phone
	maxWholeWord = 22 // a word of a longer code, and code in a cell that a phone shows beside its column's name
)

// wrapsAttribute is set on a span of code that may wrap though it is short.
const wrapsAttribute = "wraps"

// breaks matches what wrapping marks: a word with a hyphen, and a sign after which a line may end.
var breaks = regexp.MustCompile(`[^\s",;&/]*-[^\s",;&/]*|://|[,/]`)

func renderCodeSpan(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	code := (&doc{source: source}).plainText(node)
	if _, wraps := node.AttributeString(wrapsAttribute); len(code) <= maxWholeCode && !wraps {
		fmt.Fprintf(w, `<code class="whole">%s</code>`, html.EscapeString(code))
	} else {
		fmt.Fprintf(w, "<code>%s</code>", wrapping(code))
	}
	return ast.WalkSkipChildren, nil
}

// wrapping renders code that a browser breaks where it reads well: after a comma, on a phone after a
// slash, and not after the hyphen of a short word.
func wrapping(code string) string {
	return breaks.ReplaceAllStringFunc(html.EscapeString(code), func(part string) string {
		switch {
		case part == ",":
			return ",<wbr>"
		case part == "/":
			return `/<wbr class="narrow">`
		case part == "://", len(part) > maxWholeWord:
			return part
		}
		return `<span class="whole">` + part + "</span>"
	})
}

// wrappingLines renders a block of code in which each line may wrap.
func wrappingLines(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		b.WriteString(`<span class="line">` + wrapping(line) + "</span>")
	}
	return b.String()
}
