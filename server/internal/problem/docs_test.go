package problem

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// http.md has a row for each code, with its status.
func TestDocsNameEachProblem(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../web/docs/http.md")
	require.NoError(t, err)
	problems := []Problem{Of(errors.New("unknown"))}
	for _, known := range table {
		problems = append(problems, Of(known.err))
	}
	for _, p := range problems {
		row := regexp.MustCompile(fmt.Sprintf("(?m)^\\| (?:`[a-z_]+` )*`%s` (?:`[a-z_]+` )*\\| %d \\|", p.Code, p.Status))
		require.True(t, row.Match(page), "web/docs/http.md has no row for %s with the status %d", p.Code, p.Status)
	}
}
