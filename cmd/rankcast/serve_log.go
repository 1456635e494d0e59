package main

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"time"
)

// serveLog are the flags of the log.
type serveLog struct {
	Format string `name:"log-format" default:"text" enum:"text,json" env:"RANKCAST_LOG_FORMAT" placeholder:"FORMAT" help:"Form of the log lines: text (key=value) or json. Default ${default}."`
	Level  string `name:"log-level" default:"info" enum:"debug,info,warn,error" env:"RANKCAST_LOG_LEVEL" placeholder:"LEVEL" help:"Least level of the lines in the log: debug, info, warn or error. Only debug shows ids of members. Default ${default}."`
}

// jsonFormat is the format with a JSON object a line.
const jsonFormat = "json"

// logger returns the logger that writes to out.
func (s *serveLog) logger(out io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.Level)); err != nil {
		panic(err) // the flag accepts levels only
	}
	options := &slog.HandlerOptions{Level: level}
	if s.Format == jsonFormat {
		options.ReplaceAttr = asText
		return slog.New(slog.NewJSONHandler(out, options))
	}
	return slog.New(slog.NewTextHandler(out, options))
}

// asText gives an attribute of a log in JSON the text that a log in text has: a duration with its unit ("261ms"), and an
// address as host and port. By default slog writes nanoseconds, and the fields of the address.
func asText(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case time.Duration:
		a.Value = slog.StringValue(v.String())
	case net.Addr:
		a.Value = slog.StringValue(v.String())
	}
	return a
}

// errLogged is the error of a command that has logged the reason of its end.
var errLogged = errors.New("the log has the reason")

// end returns the error with which a command ends. A log in JSON gets the error as a line, as no other text must stand
// between its lines.
func (s *serveLog) end(log *slog.Logger, err error) error {
	if err == nil || s.Format != jsonFormat {
		return err
	}
	log.Error("the process has ended", "error", err)
	return errLogged
}
