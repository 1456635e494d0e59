package main

import (
	"fmt"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	tableast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// A table that is too wide for a phone stacks there: each row becomes a block, with its first cell as
// the title, and each other cell stands below with the name of its column.
const (
	stackColumns = 3  // with at least so many columns a table stacks
	stackWidth   = 32 // a table of two columns stacks if it needs more characters than this
	proseWidth   = 12 // the characters that a column of text needs
)

// Attributes of nodes of a table that stacks.
const (
	stackAttribute = "stack" // of the table
	labelAttribute = "label" // of a cell: the name of its column
)

// labelCells marks a table that stacks, and its cells.
func (d *doc) labelCells(table *tableast.Table) {
	var names []string
	for cell := table.FirstChild().FirstChild(); cell != nil; cell = cell.NextSibling() {
		names = append(names, d.plainText(cell))
	}
	if len(names) < 2 || len(names) < stackColumns && d.width(table) <= stackWidth {
		return
	}
	table.SetAttributeString(stackAttribute, true)
	for row := table.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
		i := 0
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			// With two columns, the second cell explains the first one.
			if i > 0 && len(names) >= stackColumns {
				cell.SetAttributeString(labelAttribute, names[i])
				inspect(cell, func(n ast.Node) {
					if n.Kind() == ast.KindCodeSpan && len(d.plainText(n)) > maxWholeWord {
						n.SetAttributeString(wrapsAttribute, true)
					}
				})
			}
			i++
		}
	}
}

// width is the number of characters that a table of two columns needs.
func (d *doc) width(table *tableast.Table) int {
	first, second := 0, proseWidth
	for row := table.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
		first, second = max(first, d.unbroken(row.FirstChild())), max(second, d.unbroken(row.LastChild()))
	}
	return first + second
}

// unbroken is the length, in bytes, of the longest part of a cell that stays on one line.
func (d *doc) unbroken(cell ast.Node) (longest int) {
	for word := range strings.FieldsSeq(d.plainText(cell)) {
		longest = max(longest, len(word))
	}
	inspect(cell, func(n ast.Node) {
		if n.Kind() != ast.KindCodeSpan {
			return
		}
		if code := len(d.plainText(n)); code <= maxWholeCode {
			longest = max(longest, code)
		}
	})
	return min(longest, maxWholeCode)
}

// role is the attribute that keeps the role of a part of a table that stacks: a browser drops the roles
// of a table that is displayed as blocks.
func role(table ast.Node, name string) string {
	if _, stacks := table.AttributeString(stackAttribute); !stacks {
		return ""
	}
	return fmt.Sprintf(` role="%s"`, name)
}

// renderTable puts a table in a box, in which a wide table scrolls.
func renderTable(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	class := "table"
	if _, stacks := n.AttributeString(stackAttribute); stacks {
		class = "table stack"
	}
	if entering {
		fmt.Fprintf(w, "<div class=\"%s\">\n<table%s>\n", class, role(n, "table"))
	} else {
		fmt.Fprint(w, "</table>\n</div>\n")
	}
	return ast.WalkContinue, nil
}

// renderTableHeader leaves out a header without words: Markdown requires one in each table.
func renderTableHeader(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	empty := true
	for cell := n.FirstChild(); cell != nil; cell = cell.NextSibling() {
		empty = empty && !cell.HasChildren()
	}
	switch {
	case entering && empty:
		return ast.WalkSkipChildren, nil
	case entering:
		fmt.Fprintf(w, "<thead%s>\n<tr%s>\n", role(n.Parent(), "rowgroup"), role(n.Parent(), "row"))
	default:
		if !empty {
			fmt.Fprint(w, "</tr>\n</thead>\n")
		}
		if n.NextSibling() != nil {
			fmt.Fprintf(w, "<tbody%s>\n", role(n.Parent(), "rowgroup")) // the last row ends it
		}
	}
	return ast.WalkContinue, nil
}

func renderTableRow(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		fmt.Fprintf(w, "<tr%s>\n", role(n.Parent(), "row"))
		return ast.WalkContinue, nil
	}
	fmt.Fprint(w, "</tr>\n")
	if n.NextSibling() == nil {
		fmt.Fprint(w, "</tbody>\n")
	}
	return ast.WalkContinue, nil
}

// renderTableCell aligns a cell by an attribute, because the content security policy forbids styles. A
// header without words is no header for a screen reader.
func renderTableCell(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*tableast.TableCell)
	tag, is := "td", "cell"
	if n.Parent().Kind() == tableast.KindTableHeader && n.HasChildren() {
		tag, is = "th", "columnheader"
	}
	if !entering {
		fmt.Fprintf(w, "</%s>\n", tag)
		return ast.WalkContinue, nil
	}
	fmt.Fprintf(w, "<%s%s", tag, role(n.Parent().Parent(), is))
	if label, labelled := n.AttributeString(labelAttribute); labelled {
		fmt.Fprintf(w, ` data-label="%s"`, html.EscapeString(label.(string)))
	}
	if n.Alignment != tableast.AlignNone {
		fmt.Fprintf(w, ` align="%s"`, n.Alignment)
	}
	fmt.Fprint(w, ">")
	return ast.WalkContinue, nil
}
