package ranking_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"rankcast/ranking"
	"rankcast/ranking/definition"
	"rankcast/ranking/redistest"
)

func TestProfilesAreKeptPerKind(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, ctx := open(t, url), t.Context()
		require.ErrorIs(t, errorOf(s.Profile(ctx, "user", "u4")), definition.ErrUnknownMember)
		odd := `a:{b}@ "<ü> / %` + "\u200f"
		for _, member := range []string{"u4", odd} {
			first, err := s.SetProfile(ctx, "user", member, ranking.Profile{Name: "Ann " + member, Avatar: "/a.png"})
			require.NoError(t, err)
			require.True(t, first)
			p := must(s.Profile(ctx, "user", member))(t)
			require.Equal(t, ranking.Profile{Name: "Ann " + member, Avatar: "/a.png"}, p)
		}
		first := must(s.SetProfile(ctx, "user", "u4", ranking.Profile{Avatar: "https://x.test/4.png"}))(t)
		require.False(t, first)
		all := must(s.Profiles(ctx, "user", []string{"u4", "nobody", odd}))(t)
		require.Equal(t, map[string]ranking.Profile{"u4": {Avatar: "https://x.test/4.png"},
			odd: {Name: "Ann " + odd, Avatar: "/a.png"}}, all, "what is set replaces all of it")
		for _, other := range []string{"star", "user-a"} {
			all = must(s.Profiles(ctx, other, []string{"u4", odd}))(t)
			require.Empty(t, all)
		}
		for range 2 {
			require.NoError(t, s.DeleteProfile(ctx, "user", "u4"))
			require.ErrorIs(t, errorOf(s.Profile(ctx, "user", "u4")), definition.ErrUnknownMember)
		}
		first = must(s.SetProfile(ctx, "user", "u4", ranking.Profile{Name: "Ann"}))(t)
		require.True(t, first)
	})
}

func TestProfilesThatAreNone(t *testing.T) {
	t.Parallel()
	s := open(t, redistest.Embedded(t))
	ok := strings.Repeat("é", 64)
	for _, p := range []ranking.Profile{
		{Name: ok}, {Name: "<b>"}, {Avatar: "/a"}, {Avatar: "http://x/y?z=%20"}, {Avatar: "https://x.test/" + strings.Repeat("a", 497)},
	} {
		must(s.SetProfile(t.Context(), "user", "u", p))(t, p)
	}
	for _, p := range []struct {
		ranking.Profile
		field string
	}{
		{ranking.Profile{}, "name"}, {ranking.Profile{Name: ok + "x"}, "name"}, {ranking.Profile{Name: "a\nb"}, "name"},
		{ranking.Profile{Name: "\xff"}, "name"},
		{ranking.Profile{Name: " \u2003"}, "name"}, {ranking.Profile{Name: "a", Avatar: "a.png"}, "avatar"},
		{ranking.Profile{Avatar: "//x.test/a"}, "avatar"},
		{ranking.Profile{Avatar: `/\x.test/a`}, "avatar"}, {ranking.Profile{Avatar: "javascript:alert(1)"}, "avatar"},
		{ranking.Profile{Avatar: "data:image/png;base64,"}, "avatar"},
		{ranking.Profile{Avatar: "https:///a"}, "avatar"}, {ranking.Profile{Avatar: "https://u:p@x.test/"}, "avatar"},
		{ranking.Profile{Avatar: "/a b"}, "avatar"},
		{ranking.Profile{Avatar: "/" + strings.Repeat("a", 512)}, "avatar"}, {ranking.Profile{Avatar: "https:/a"}, "avatar"},
	} {
		_, err := s.SetProfile(t.Context(), "user", "u", p.Profile)
		ranking.Refuses(t, p.field, definition.ErrInvalid, err, "%+v", p)
	}
	for _, bad := range [][2]string{{"User", "u"}, {"", "u"}, {"user", ""}, {"user", "a\x1fb"}} {
		_, err := s.SetProfile(t.Context(), bad[0], bad[1], ranking.Profile{Name: "a"})
		require.ErrorIs(t, err, definition.ErrInvalid, bad)
		require.ErrorIs(t, s.DeleteProfile(t.Context(), bad[0], bad[1]), definition.ErrInvalid, bad)
		require.ErrorIs(t, errorOf(s.Profile(t.Context(), bad[0], bad[1])), definition.ErrInvalid, bad)
	}
	require.ErrorIs(t, errorOf(s.Profiles(t.Context(), "user", make([]string, ranking.MaxPage+1))), definition.ErrInvalid)
}

// A value that another program wrote in place of a profile counts as no profile, and hides no other one. A change replaces
// the value.
func TestProfileThatIsGarbledIsNone(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s, ctx := open(t, url), t.Context()
		rdb := redistest.Dial(t, url)
		must(s.SetProfile(ctx, "user", "a", ranking.Profile{Name: "Ann"}))(t)
		garbled := map[string]string{"text": "{", "list": "[]", "empty": ""}
		for member, text := range garbled {
			require.NoError(t, rdb.HSet(ctx, partOf("user", member), member, text).Err())
		}
		all := must(s.Profiles(ctx, "user", []string{"text", "list", "empty", "a", "nobody"}))(t)
		require.Equal(t, map[string]ranking.Profile{"a": {Name: "Ann"}}, all)
		for m := range garbled {
			require.ErrorIs(t, errorOf(s.Profile(ctx, "user", m)), definition.ErrUnknownMember)
			_, known := s.KnownProfile("user", m)
			require.True(t, known, "nor is it read again")
			must(s.SetProfile(ctx, "user", m, ranking.Profile{Name: "Bea"}))(t)
			require.Equal(t, "Bea", must(s.Profile(ctx, "user", m))(t).Name)
		}
	})
}

// partOf is the key of the profiles of a kind among which that of a member is.
func partOf(kind, member string) string {
	return fmt.Sprintf("rc:{/profiles/%s/%d}:p", kind, xxhash.Sum64String(member)%16)
}

func TestProfilesAreReadOnceAndNoneOfOtherKinds(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	rdb := redistest.Dial(t, url)
	var reads atomic.Int64 // profiles that the store asks Redis for
	rdb.AddHook(redistest.Hook(func(ctx context.Context, cmds []redis.Cmder, send redis.ProcessPipelineHook) error {
		for _, cmd := range cmds {
			if args := cmd.Args(); cmd.Name() == "hmget" && strings.Contains(fmt.Sprint(args[1]), "{/profiles/") {
				reads.Add(int64(len(args) - 2))
			}
		}
		return send(ctx, cmds)
	}))
	s, ctx := ranking.New(rdb, ranking.Config{CallTimeout: redistest.CallTimeout}), t.Context()
	defer s.Close()
	must(s.SetProfile(ctx, "user", "m1", ranking.Profile{Name: "One"}))(t)
	var members []string
	for i := range 1000 {
		members = append(members, fmt.Sprint("m", i))
	}
	require.Zero(t, reads.Load())
	for range 3 {
		all := must(s.Profiles(ctx, "user", members))(t)
		require.Equal(t, map[string]ranking.Profile{"m1": {Name: "One"}}, all)
		require.EqualValues(t, 1000, reads.Load(), "those that there are not are kept too")
	}
	p, known := s.KnownProfile("user", "m2")
	require.True(t, known)
	require.Empty(t, p)
	_, known = s.KnownProfile("user", "m2000")
	require.False(t, known)
	s.ForgetProfile("user", "m2")
	must(s.Profiles(ctx, "user", members))(t)
	require.EqualValues(t, 1001, reads.Load(), "only what was told of is read again")
	s.ForgetProfiles()
	must(s.Profiles(ctx, "user", members))(t)
	require.EqualValues(t, 2001, reads.Load())

	require.False(t, s.Profiled("star"))
	must(s.Profiles(ctx, "star", members))(t)
	require.EqualValues(t, 2001, reads.Load(), "a kind without profiles is not read")
	_, known = s.KnownProfile("star", "x")
	require.True(t, known)
}

// Nodes that were there before the first profile of a kind come to know that there are.
func TestOtherNodesSeeTheFirstProfileOfAKind(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		there, s := open(t, url, definition.Board{Name: "b"}), open(t, url)
		all := must(there.Profiles(t.Context(), "user", []string{"u"}))(t)
		require.Empty(t, all)
		must(s.SetProfile(t.Context(), "user", "u", ranking.Profile{Name: "Ann"}))(t)
		redistest.Eventually(t, "the profile to be seen", func() error {
			all, err := there.Profiles(t.Context(), "user", []string{"u"})
			if err == nil && all["u"].Name != "Ann" {
				err = errors.New("it is not")
			}
			return err
		})
	})
}

// Nodes define again what there was when Redis has lost everything, though a profile is
// set before they have seen it.
func TestProfileThatIsSetRightAfterRedisLostAll(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		there, s := open(t, url, definition.Board{Name: "b"}), open(t, url)
		rdb := redistest.Dial(t, url)
		must(there.Boards(t.Context()))(t)
		require.NoError(t, rdb.FlushAll(t.Context()).Err())
		must(s.SetProfile(t.Context(), "user", "u", ranking.Profile{Name: "Ann"}))(t)
		redistest.Eventually(t, "board and profile to be there", func() error {
			boards, err := there.Boards(t.Context())
			if err == nil && len(boards) != 1 {
				err = fmt.Errorf("boards: %v", boards)
			}
			if !there.Profiled("user") {
				err = errors.Join(err, errors.New("profiles are not seen"))
			}
			return err
		})
	})
}

// The key of all definitions is not written for each profile, and that there are profiles
// of a kind is still known where Redis has lost all meanwhile.
func TestKindIsMarkedOnce(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := open(t, url, definition.Board{Name: "b"})
		rdb := redistest.Dial(t, url)
		set := func(member string) {
			must(s.SetProfile(t.Context(), "user", member, ranking.Profile{Name: "Ann"}))(t)
		}
		marked := func() bool {
			return must(rdb.HExists(t.Context(), "rc:{/}:definitions", "profiles:user").Result())(t)
		}
		set("a")
		require.True(t, marked())
		redistest.Eventually(t, "a look at the definitions that shows it", func() error {
			if _, err := s.Boards(t.Context()); err != nil {
				return err
			}
			require.NoError(t, rdb.HDel(t.Context(), "rc:{/}:definitions", "profiles:user").Err())
			if set("b"); marked() {
				return errors.New("it was marked again")
			}
			return nil
		})
		require.NoError(t, rdb.FlushAll(t.Context()).Err())
		set("c")
		redistest.Eventually(t, "a node that has just begun to know of it", func() error {
			if _, err := s.Boards(t.Context()); err != nil {
				return err
			}
			all, err := open(t, url).Profiles(t.Context(), "user", []string{"c"})
			if err == nil && len(all) != 1 {
				err = errors.New("it does not")
			}
			return err
		})
	})
}

func TestFeedTellsOfProfiles(t *testing.T) {
	redistest.OnEngines(t, func(t *testing.T, url string) {
		s := open(t, url)
		_, heard := follow(t, url, 0)
		next[up](t, heard)
		must(s.SetProfile(t.Context(), "user", "u:4", ranking.Profile{Name: "Ann"}))(t)
		require.Equal(t, profile{"user", "u:4"}, next[profile](t, heard), "from FeedUp on")
		require.NoError(t, s.DeleteProfile(t.Context(), "user", "nobody"))
		require.NoError(t, s.DeleteProfile(t.Context(), "user", "u:4"))
		require.Equal(t, profile{"user", "u:4"}, next[profile](t, heard), "and nothing where nothing changed")
	})
}

func TestProfileThatNobodyHeardOfIsReadWhenItIsOld(t *testing.T) {
	t.Parallel()
	url := redistest.Embedded(t)
	there := newNode(t, url, ranking.Config{ProfileAge: 50 * time.Millisecond})
	s := open(t, url)
	for i := range 3 {
		name := fmt.Sprint("Ann ", i)
		must(s.SetProfile(t.Context(), "user", "u", ranking.Profile{Name: name}))(t)
		redistest.Eventually(t, "the name", func() error {
			all, err := there.Profiles(t.Context(), "user", []string{"u"})
			if err == nil && all["u"].Name != name {
				err = fmt.Errorf("%+v", all)
			}
			return err
		})
	}
}
