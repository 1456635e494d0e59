// A program with types that generators have made of the contract. It writes, reads and watches a board.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"example.org/contract/messages"
	"example.org/contract/rankcast"
)

const board = "go"

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url string) error {
	c, err := rankcast.NewClientWithResponses(url)
	if err != nil {
		return err
	}
	defined, err := c.DefineBoardWithResponse(ctx, board, nil, rankcast.BoardDefinition{Kind: new("player")})
	if err != nil {
		return err
	}
	fmt.Println("defined", *defined.JSON201.Board)

	var body rankcast.UpdateScoresJSONRequestBody
	if err := body.FromUpdateBatch(rankcast.UpdateBatch{Updates: []rankcast.Update{
		{Member: "ana", Score: new(int64(40)), Id: new("m1")}, {Member: "eli", Score: new(int64(30))}}}); err != nil {
		return err
	}
	written, err := c.UpdateScoresWithResponse(ctx, board, nil, body)
	if err != nil {
		return err
	}
	results, err := written.JSON200.AsUpdateResults()
	if err != nil {
		return err
	}
	for _, result := range results.Results {
		counted, err := result.AsResult()
		if err != nil {
			return err
		}
		fmt.Println("wrote", counted.Member, *counted.Score)
	}

	page, err := c.ReadTopWithResponse(ctx, board, &rankcast.ReadTopParams{Limit: new(1)})
	if err != nil {
		return err
	}
	for _, entry := range page.JSON200.Top {
		fmt.Println("read", entry.Rank, entry.Member, entry.Score)
	}
	unknown, err := c.ReadTopWithResponse(ctx, "nosuch", nil)
	if err != nil {
		return err
	}
	fmt.Println("refused", unknown.ApplicationproblemJSON404.Code)

	if err := watchSocket(ctx, url, c); err != nil {
		return err
	}
	return watchStream(ctx, c)
}

// watchSocket watches the first two over a socket, and prints them after a change.
func watchSocket(ctx context.Context, url string, c *rankcast.ClientWithResponses) error {
	conn, _, err := websocket.Dial(ctx, strings.Replace(url, "http", "ws", 1)+"/v1/live",
		&websocket.DialOptions{Subprotocols: []string{"rankcast.v1"}})
	if err != nil {
		return err
	}
	defer conn.CloseNow()
	if err := wsjson.Write(ctx, conn, messages.Subscribe{ReservedType: "subscribe", Board: board, Top: 2}); err != nil {
		return err
	}
	var list []messages.Entry
	for {
		_, frame, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		var head struct{ Type string }
		if err := json.Unmarshal(frame, &head); err != nil {
			return err
		}
		switch head.Type {
		case "snapshot":
			var snapshot messages.Snapshot
			if err := json.Unmarshal(frame, &snapshot); err != nil {
				return err
			}
			list = snapshot.Top
			var body rankcast.UpdateScoresJSONRequestBody
			if err := body.FromUpdate(rankcast.Update{Member: "mia", Score: new(int64(50))}); err != nil {
				return err
			}
			if _, err := c.UpdateScoresWithResponse(ctx, board, nil, body); err != nil {
				return err
			}
		case "delta":
			var delta messages.Delta
			if err := json.Unmarshal(frame, &delta); err != nil {
				return err
			}
			list = append(list, make([]messages.Entry, delta.Len)...)[:delta.Len]
			for _, row := range delta.Rows { // an index and an entry
				entry, err := json.Marshal(row[1])
				if err != nil {
					return err
				}
				if err := json.Unmarshal(entry, &list[int(row[0].(float64))]); err != nil {
					return err
				}
			}
			var texts []string
			for _, entry := range list {
				texts = append(texts, fmt.Sprint(entry.Member, " ", entry.Score))
			}
			fmt.Println("watched", strings.Join(texts, ", "))
			return nil
		case "error":
			return fmt.Errorf("%s", frame)
		}
	}
}

// watchStream prints the first list of an event stream.
func watchStream(ctx context.Context, c *rankcast.ClientWithResponses) error {
	answer, err := c.StreamBoard(ctx, board, &rankcast.StreamBoardParams{Top: new(1)})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		data, isData := strings.CutPrefix(lines.Text(), "data: ")
		var snapshot messages.Snapshot
		if !isData {
			continue
		}
		if err := json.Unmarshal([]byte(data), &snapshot); err != nil {
			return err
		}
		if snapshot.ReservedType == "snapshot" {
			fmt.Println("streamed", snapshot.Top[0].Member, snapshot.Top[0].Score)
			return nil
		}
	}
	return lines.Err()
}
