package doctor

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"rankcast/cmd/rankcast/internal/term"
	"rankcast/ranking/doctor"
)

// report prints the findings in columns, and a line that sums up.
func report(w io.Writer, all []doctor.Finding) error {
	const levelWidth, gap = len("unknown"), 2
	out := tabwriter.NewWriter(w, 0, 0, gap, ' ', 0)
	for _, f := range all {
		level, check, found := f.Level.String(), f.Check, f.Found
		if f.Server != "" {
			found = f.Server + ": " + found
		}
		for line := range strings.SplitSeq(found, "\n") { // an error of a file has a line for each mistake
			fmt.Fprintf(out, "%-*s\t%s\t%s\n", levelWidth, level, check, term.Printable(line))
			level, check = "", ""
		}
		if f.Fix != "" {
			fmt.Fprintf(out, "\t\t  %s\n", term.Printable(f.Fix))
		}
	}
	fmt.Fprintln(out, summary(all))
	return out.Flush() // which has the error of a write before, too
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
