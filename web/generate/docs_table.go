package main

import (
	"fmt"
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

// Attributes of nodes of a table. goldmark writes those of rows and cells as they are.
const (
	stackAttribute = "stack"      // of a table that stacks
	roleAttribute  = "role"       // of a row or a cell of it: a browser drops the roles of a table that is displayed as blocks
	labelAttribute = "data-label" // of a cell of it: the name of its column
)

// labelCells marks a table that stacks, its rows and its cells. In any table, a header without words gets the role of a cell:
// it is no header for a screen reader.
func (d *doc) labelCells(table *tableast.Table) {
	var names []string
	for cell := table.FirstChild().FirstChild(); cell != nil; cell = cell.NextSibling() {
		names = append(names, d.plainText(cell))
		if !cell.HasChildren() {
			cell.SetAttributeString(roleAttribute, "cell")
		}
	}
	if len(names) < 2 || len(names) < stackColumns && d.width(table) <= stackWidth {
		return
	}
	table.SetAttributeString(stackAttribute, true)
	for cell := table.FirstChild().FirstChild(); cell != nil; cell = cell.NextSibling() {
		if cell.HasChildren() {
			cell.SetAttributeString(roleAttribute, "columnheader")
		}
	}
	for row := table.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
		row.SetAttributeString(roleAttribute, "row")
		i := 0
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cell.SetAttributeString(roleAttribute, "cell")
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

// role is the roleAttribute of the table, or of a part of it that has no node, as HTML; "" if the table does not stack.
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
