package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"rankcast/server/client"
)

// A gift server sends an update for each gift, with the gift's own id: whatever
// fails on the way, the gift counts once.
func ExampleClient_Update() {
	c, err := client.New("http://127.0.0.1:8080", client.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r, err := c.Update(ctx, "stars", client.Update{Member: "s17", Score: 3, ID: "gift-20261120-0042"})
	var refused *client.Error
	switch {
	case errors.As(err, &refused) && refused.Code == "out_of_range":
		log.Printf("the star has all the flowers there are: %s", refused.Message)
	case err != nil:
		log.Printf("send it again later, with the same id: %v", err)
	default:
		fmt.Printf("%s is now at %d, rank %d\n", r.Member, *r.Score, *r.Rank)
	}
}

// Many updates at once: each is answered by itself. The mode of laps is best: a slower lap changes nothing.
func ExampleClient_Updates() {
	c, err := client.New("http://127.0.0.1:8080", client.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	outcomes, err := c.Updates(context.Background(), "laps", []client.Update{
		{Member: "ana", Score: 78_123},
		{Member: "eli", Score: 78_310},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			log.Printf("not taken: %v", o.Err)
			continue
		}
		fmt.Println(o.Result.Member, *o.Result.Rank)
	}
}

// A gift is sent once, and counts on each board that the event is for: flowers of
// the star, of its fans, and of all givers.
func ExampleClient_Event() {
	c, err := client.New("http://127.0.0.1:8080", client.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	outcomes, err := c.Event(context.Background(), "gift", client.Event{
		ID: "gift-20261120-0043", Data: []byte(`{"star":"s17","user":"mochi","flowers":3}`)})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range outcomes {
		if o.Err != nil {
			log.Printf("%s did not take it: %v", o.Result.Board, o.Err)
			continue
		}
		if o.Result.Rank != nil { // not on a window whose result is built
			fmt.Println(o.Result.Board, o.Result.Period, *o.Result.Rank)
		}
	}
}

// An overlay shows the first three fans of a star and a viewer's own rank, until ctrl-c.
func ExampleClient_Watch() {
	c, err := client.New("http://127.0.0.1:8080", client.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err = c.Watch(ctx, "fans:s17", client.Watch{Top: 3, Me: "u4", Around: 1}, func(b client.Board) {
		for _, e := range b.Top {
			fmt.Println(e.Rank, e.Member, e.Score)
		}
		if me := b.Me; me != nil && me.Rank != nil {
			fmt.Println("you:", *me.Rank)
			if me.ToNext != nil {
				fmt.Println("to the next place:", *me.ToNext)
			}
		}
		if b.State != client.Live {
			fmt.Println(b.State, "as of", b.AsOf)
		}
	})
	if ctx.Err() == nil {
		log.Fatal(err) // refused for good, such as an unknown board
	}
}
