package server

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/server/internal/respond"
)

// resultJSON answers an update of one member of a board.
type resultJSON struct {
	board, member string
	result        ranking.Result
}

func newResult(board, member string, r ranking.Result) resultJSON {
	return resultJSON{board, member, r}
}

func (j resultJSON) AppendJSON(b []byte) ([]byte, error) {
	if j.result.Frozen {
		return j.appendFrozen(b)
	}
	b, err := jsontext.AppendQuote(append(b, `{"board":`...), j.board)
	if err != nil {
		return nil, err
	}
	if b, err = jsontext.AppendQuote(append(b, `,"period":`...), j.result.Period); err != nil {
		return nil, err
	}
	if b, err = jsontext.AppendQuote(append(b, `,"member":`...), j.member); err != nil {
		return nil, err
	}
	if now := j.result.Current; now != nil {
		b = appendStanding(append(b, ','), *now, j.result.Columns)
	} else {
		b = append(b, `,"score":null,"rank":null`...)
	}
	if before := j.result.Previous; before != nil {
		b = append(appendStanding(append(b, `,"previous":{`...), *before, j.result.Columns), '}')
	} else {
		b = append(b, `,"previous":null`...)
	}
	b = strconv.AppendBool(append(b, `,"duplicate":`...), j.result.Duplicate)
	if j.result.TakenBack {
		b = append(b, `,"taken_back":true`...)
	}
	return append(b, '}'), nil
}

// appendFrozen is AppendJSON for an update of a frozen board. It tells nothing that the public does not see.
func (j resultJSON) appendFrozen(b []byte) ([]byte, error) {
	b, err := jsontext.AppendQuote(append(b, `{"board":`...), j.board)
	if err != nil {
		return nil, err
	}
	if b, err = jsontext.AppendQuote(append(b, `,"member":`...), j.member); err != nil {
		return nil, err
	}
	b = append(b, `,"frozen":true`...)
	if j.result.Duplicate {
		b = append(b, `,"duplicate":true`...)
	}
	if j.result.TakenBack {
		b = append(b, `,"taken_back":true`...)
	}
	return append(b, '}'), nil
}

// MarshalJSON is for a result within another answer.
func (j resultJSON) MarshalJSON() ([]byte, error) { return respond.Marshal(j) }

// resultsJSON answers a batch, or an event: a result or a refusal of each item.
type resultsJSON struct {
	Results []any `json:"results"`
}

func (j resultsJSON) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"results":[`...)
	for i, r := range j.Results {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if own, ok := r.(respond.Appender); ok {
			b, err = own.AppendJSON(b)
		} else {
			var encoded []byte
			encoded, err = json.Marshal(r)
			b = append(b, encoded...)
		}
		if err != nil {
			return nil, err
		}
	}
	return append(b, ']', '}'), nil
}

// appendStanding appends the fields of a standing. The rank of a hidden member is null.
func appendStanding(b []byte, s ranking.Standing, columns definition.Columns) []byte {
	b = strconv.AppendInt(append(b, `"score":`...), s.Score, 10)
	if columns != nil {
		b = columns.AppendJSON(append(b, `,"columns":`...), s.Score)
	}
	b = append(b, `,"rank":`...)
	if s.Rank == 0 {
		return append(b, `null`...)
	}
	return strconv.AppendInt(b, s.Rank, 10)
}
