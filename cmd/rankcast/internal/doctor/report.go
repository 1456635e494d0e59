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
	var out strings.Builder
	for _, f := range all {
		found := f.Found
		if f.Server != "" {
			found = f.Server + ": " + found
		}
		for i, line := range strings.Split(found, "\n") { // an error of a file has a line for each mistake
			head := []string{f.Level.String(), f.Check}
			if i > 0 {
				head = []string{"", ""}
			}
			fmt.Fprintf(&out, "%-*s  %-*s  %s\n", level, head[0], wide, head[1], term.Printable(line))
		}
		if f.Fix != "" {
			fmt.Fprintf(&out, "%-*s  %-*s    %s\n", level, "", wide, "", term.Printable(f.Fix))
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
