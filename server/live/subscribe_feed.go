package live

import (
	"github.com/go-json-experiment/json/jsontext"

	"rankcast/hub"
	"rankcast/ranking"
	"rankcast/server/internal/request"
)

// subscribeFeed subscribes to the feed of an event.
func (ss *session) subscribeFeed(id jsontext.Value, o request.Object) error {
	if err := o.Only("type", "id", "feed"); err != nil {
		return err
	}
	feed, err := o.RequiredText("feed")
	if err != nil {
		return err
	}
	if err := ss.sessions.store.CheckFeed(ss.sessions.calls, feed); err != nil {
		return err
	}
	accepted := func() { ss.socket.reply(answerFrame("ok", id)) }
	if ss.feeds[feed] != nil {
		accepted() // the subscription exists already
		return nil
	}
	if err := ss.allowSubscription("feed", len(ss.feeds)); err != nil {
		return err
	}
	sub, err := ss.sessions.hub.Follow(ss.client, feed, accepted)
	if err != nil {
		return err
	}
	if ss.feeds == nil {
		ss.feeds = make(map[string]*hub.FeedSubscription)
	}
	ss.feeds[feed] = sub
	return nil
}

func (ss *session) unsubscribeFeed(id jsontext.Value, o request.Object) error {
	if err := o.Only("type", "id", "feed"); err != nil {
		return err
	}
	feed, err := o.RequiredText("feed")
	if err != nil {
		return err
	}
	sub, there := ss.feeds[feed]
	if !there {
		return ranking.Invalid("feed", "has no subscription here")
	}
	ss.sessions.hub.Unfollow(sub)
	delete(ss.feeds, feed)
	ss.socket.reply(answerFrame("ok", id))
	return nil
}
