package doctor

import (
	"fmt"
	"io"
	"strings"

	"rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking/doctor"
)

// report prints the findings in columns, and a line that sums up.
func report(w io.Writer, all []doctor.Finding) error {
	wide := 0
	for _, f := range all {
		wide = max(wide, len(f.Check))
	}
	const level = len("unknown")
	margin := strings.Repeat(" ", level+2+wide+2)
	// in puts the lines of a text below each other.
	in := func(text string) string {
		lines := strings.Split(text, "\n") // an error of a file has a line for each mistake
		for i, line := range lines {
			lines[i] = term.Printable(line)
		}
		return strings.Join(lines, "\n"+margin)
	}
	var out strings.Builder
	for _, f := range all {
		found := f.Found
		if f.Server != "" {
			found = f.Server + ": " + found
		}
		fmt.Fprintf(&out, "%-*s  %-*s  %s\n", level, f.Level, wide, f.Check, in(found))
		if f.Fix != "" {
			fmt.Fprintf(&out, "%s  %s\n", margin, in(f.Fix))
		}
	}
	fmt.Fprintln(&out, summary(all))
	_, err := io.WriteString(w, out.String())
	return err
}

// summary counts the findings by their level: 12 checks: 1 problem, 2 warnings.
func summary(all []doctor.Finding) string {
	var parts []string
	for _, level := range []doctor.Level{doctor.Problem, doctor.Warning, doctor.Unknown} {
		n := count(all, level)
		switch {
		case n == 0:
		case level == doctor.Unknown:
			parts = append(parts, fmt.Sprintf("%d unknown", n))
		default:
			parts = append(parts, doctor.Counted(n, level.String()))
		}
	}
	if len(parts) == 0 {
		parts = []string{"all ok"}
	}
	return doctor.Counted(len(all), "check") + ": " + strings.Join(parts, ", ")
}

func count(all []doctor.Finding, level doctor.Level) (n int) {
	for _, f := range all {
		if f.Level == level {
			n++
		}
	}
	return n
}
