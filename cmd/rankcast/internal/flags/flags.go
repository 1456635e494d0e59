// Package flags checks flags by their bounds.
package flags

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// CheckRanges checks each flag of a command whose tag range names its least and its greatest value: range:"1..1000", or
// range:"10ms..5m" for a duration. With range:"0.." the flag is a limit that 0 turns off. A flag that is not set may have any
// default.
func CheckRanges(command *kong.Context) error {
	for _, flag := range command.Flags() {
		least, most, isBounded := strings.Cut(flag.Tag.Get("range"), "..")
		value := reflect.Indirect(flag.Target)
		if !isBounded || !value.IsValid() {
			continue
		}
		parse := func(text string) int64 { // the tags are valid
			if value.Type() == reflect.TypeFor[time.Duration]() {
				d, _ := time.ParseDuration(text)
				return int64(d)
			}
			n, _ := strconv.ParseInt(text, 10, 64)
			return n
		}
		switch n := value.Int(); {
		case most == "" && n < parse(least):
			return fmt.Errorf("--%s must be 0, for no limit, or more", flag.Name)
		case most != "" && (n < parse(least) || n > parse(most)):
			return fmt.Errorf("--%s must be from %s to %s", flag.Name, least, most)
		}
	}
	return nil
}

// CheckRange checks a flag whose bounds depend on other flags.
func CheckRange(flag string, n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("--%s must be from %d to %d", flag, least, most)
	}
	return nil
}
