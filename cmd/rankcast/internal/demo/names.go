package demo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rankcast/ranking"
	"rankcast/ranking/definition"
)

// starNames are invented names of stars. Their ids are s01, s02, and so on.
var starNames = []string{
	"林小夏", "Aurora Vale", "森花", "顾星棠", "Mirelle Quay", "苏念糖", "Dune Okonwa", "夜航的鲸", "Pepper Lindholt",
	"鹿见汀", "小月亮电台", "Kestrel Moss", "白桃气泡", "Juno Harrowby", "阿澈不困", "Tavi Sorrell", "海盐小满",
	"Lumi Aaltola", "江晚汀", "Rook & Fern", "糯米团子酱", "Solveig Harte", "星屿来信", "Cosimo Bright", "南风小满",
	"Odette Flint",
}

// starID is the id of starNames[n].
func starID(n int) string { return fmt.Sprintf("s%02d", n+1) }

// viewerIDs are the ids of viewers, the most generous first.
var viewerIDs = strings.Fields("xiaolong cloudberry moonrabbit mochi oolong_tea foxglove pixel_pear tanuki lychee gingko88 " +
	"salt_n_tea hoshi peony jasper_77 dumpling7 rivermint ember_k koi_pond papaya wisteria bao_bao quill nimbus maple33 " +
	"yuzu lanternfish opal_r amber92 tofu_time echo_tide sakura.s kumquat vesper hazel_n nori.b juniper.b umbrella7 " +
	"dandelion zephyr ivy.l pomelo biscuit_w quokka inkfish figtree nutmeg gooseberry cedar.h")

// viewerNames are the names of about half of the viewers. Pages show the others by id.
var viewerNames = map[string]string{
	"xiaolong": "小龙驾到", "moonrabbit": "月兔", "mochi": "麻薯 Mochi", "foxglove": "Foxglove", "tanuki": "狸子先生",
	"lychee": "荔枝要冰的", "salt_n_tea": "Salt & Tea", "peony": "牡丹姐姐", "dumpling7": "第七只饺子", "rivermint": "River Mint",
	"koi_pond": "池塘里的锦鲤", "wisteria": "Wisteria", "bao_bao": "包包", "nimbus": "Nimbus ☁", "yuzu": "柚子茶",
	"opal_r": "Opal", "tofu_time": "豆腐时间", "sakura.s": "さくら", "vesper": "Vesper", "nori.b": "海苔", "umbrella7": "七号伞",
	"zephyr": "Zéphyr", "pomelo": "柚子皮", "quokka": "Quokka", "figtree": "无花果",
}

// players are invented players, who score points and drive laps. The ids of the
// documentation's examples (ana, eli, mia) are not among them: a reader may send scores for
// those.
var players = []struct{ id, name string }{
	{"adunni", "Adunni Balogun"}, {"anouk", "Anouk Verhoeven"}, {"arjun", "Arjun Vellore"}, {"bruna", "Bruna Tavares"},
	{"caoimhe", "Caoimhe Brannigan"}, {"dmytro", "Dmytro Savchenko"}, {"elif", "Elif Karaca"}, {"farid", "Farid Nourzad"},
	{"haruka", "藤森はるか"}, {"ingrid", "Ingrid Solheim"}, {"jiwoo", "한지우"}, {"keoni", "Keoni Kahale"},
	{"leila", "Leïla Benhaddou"}, {"linh", "Lê Thảo Linh"}, {"mateo", "Mateo Quiroga"}, {"nia", "Nia Wanjiku"},
	{"oskar", "Oskar Wójcik"}, {"ruoxi", "沈若曦"}, {"sefa", "Sefa Leavasa"}, {"tomas", "Tomáš Dvorský"},
}

// setProfiles sets the profile of each star, viewer and player without one, and of all viewers together.
func setProfiles(ctx context.Context, store *ranking.Store) error {
	stars := make(map[string]string, len(starNames))
	for n, name := range starNames {
		stars[starID(n)] = name
	}
	playerNames := make(map[string]string, len(players))
	for _, p := range players {
		playerNames[p.id] = p.name
	}
	all := map[string]map[string]string{"star": stars, "user": viewerNames, "player": playerNames, "total": {"all": "Everybody"}}
	for kind, names := range all {
		ids := slices.Collect(maps.Keys(names))
		there, err := store.Profiles(ctx, kind, ids)
		if err != nil {
			return err // a member that is missing may have a profile
		}
		for _, id := range ids {
			if _, has := there[id]; has {
				continue
			}
			if _, err := store.SetProfile(ctx, kind, id, ranking.Profile{Name: names[id]}); errors.Is(err, definition.ErrConflict) {
				break // the store has no room for profiles of another kind
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}
