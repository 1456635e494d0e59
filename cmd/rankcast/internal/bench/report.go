package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"rankcast/cmd/rankcast/internal/term"
)

// report is what a command has measured.
type report struct {
	about             // Bare is "" without a column of the bare commands
	URL     string    `json:"url,omitempty"`
	Columns []*column `json:"columns"`
}

// column is one program, or the bare commands.
type column struct {
	Name    string     `json:"name"`
	Program string     `json:"program,omitempty"`
	Rounds  []*figures `json:"rounds"`

	Median *figures           `json:"median"`
	Ratios map[string]float64 `json:"ratios,omitempty"` // of the first column's medians to these
}

// finish computes the medians and ratios.
func (r *report) finish() {
	for i, c := range r.Columns {
		c.Median = summarize(c.Rounds)
		if i > 0 {
			c.Ratios = ratios(r.Columns[0].Median, c.Median)
		}
	}
}

// table is the report as text, of at most 100 columns.
func (r *report) table() string {
	head := []string{""}
	for i, c := range r.Columns {
		head = append(head, c.Name)
		if i > 0 {
			head = append(head, "ratio")
		}
	}
	lines := [][]string{head}
	for _, row := range tableRows {
		line, known := []string{strings.ReplaceAll(row.label, "%s", r.Unit)}, false
		for i, c := range r.Columns {
			v, ok := c.Median.Values[row.name]
			known = known || ok
			line = append(line, row.cell(v, ok))
			if i > 0 {
				ratio := ""
				if v, ok := c.Ratios[row.name]; ok {
					ratio = fmt.Sprintf("%.2f", v)
				}
				line = append(line, ratio)
			}
		}
		if known {
			lines = append(lines, line)
		}
	}
	return r.Name + ": " + r.What + "\n" + r.Settings + "\n\n" + align(lines) + "\n" + r.notes()
}

// cell is the figure in the table.
func (f figure) cell(v float64, known bool) string {
	switch {
	case !known:
		return ""
	case !f.decimals:
		return term.Thousands(int64(v + 0.5))
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// align puts cells below each other: the first column to the left, the others to the right.
func align(lines [][]string) string {
	var width []int
	for _, line := range lines {
		for i, text := range line {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], utf8.RuneCountInString(text))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		text := fmt.Sprintf("%-*s", width[0], line[0])
		for i, c := range line[1:] {
			text += fmt.Sprintf("  %*s", width[i+1], c)
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	return b.String()
}

// notes are the lines below the table.
func (r *report) notes() string {
	var b strings.Builder
	for _, c := range r.Columns {
		switch {
		case c.Name == columnBare:
			fmt.Fprintf(&b, "%s: %s\n", c.Name, r.Bare)
		case c.Program != "":
			fmt.Fprintf(&b, "%s: %s\n", c.Name, c.Program)
		}
	}
	if r.URL != "" {
		fmt.Fprintf(&b, "The CPU of a server at a URL, and of its Redis, is not known, and the bare commands are left out.\n")
	}
	first := r.Columns[0]
	if len(r.Columns) > 1 {
		fmt.Fprintf(&b, "A ratio is %s divided by the column on its left.", first.Name)
	}
	if n := len(first.Rounds); n > 1 {
		fmt.Fprintf(&b, " Figures are medians of %d rounds.", n)
	}
	fmt.Fprintln(&b)
	for _, c := range r.Columns {
		if len(c.Median.Errors) > 0 {
			fmt.Fprintf(&b, "not done, %s: %s\n", c.Name, errorList(c.Median.Errors))
		}
	}
	return b.String()
}

// errorList is the number of units that were not done, by code.
func errorList(errors map[string]int64) string {
	if len(errors) == 0 {
		return "no answer in time"
	}
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(errors)) {
		parts = append(parts, fmt.Sprintf("%s: %s", why, term.Thousands(errors[why])))
	}
	return strings.Join(parts, ", ")
}
