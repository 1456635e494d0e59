package ranking

import (
	"fmt"
	"slices"
	"strings"

	"rankcast/ranking/internal/script"
)

// rightsFault is one reason for which Redis refuses what the node needs.
type rightsFault struct {
	refusal script.Refusal
	found   string
	fix     string   // for the operator
	command string   // that carries out fix, for redis-cli; "" for none
	masters []string // of a cluster that refuse it, sorted; none without a cluster
}

// missingRightsError names the missing rights, and how the operator grants them.
func missingRightsError(missing []missingRight, user, prefix string) *MissingRightsError {
	e := new(MissingRightsError)
	var reasons []string
	for _, fault := range rightsFaults(missing, user, prefix) {
		reasons = append(reasons, fault.found+": "+fault.fix)
		e.Masters = append(e.Masters, fault.masters...)
	}
	e.Reason = strings.Join(reasons, "; ")
	slices.Sort(e.Masters)
	e.Masters = slices.Compact(e.Masters)
	return e
}

// rightsFaults joins the missing rights to one fault for each kind of refusal.
func rightsFaults(missing []missingRight, user, prefix string) (faults []rightsFault) {
	// all returns the different values of those with a refusal, sorted.
	all := func(refusal script.Refusal, value func(missingRight) string) (values []string) {
		for _, m := range missing {
			if m.refusal == refusal {
				values = append(values, value(m))
			}
		}
		slices.Sort(values)
		return slices.Compact(values)
	}
	pick := func(refusal script.Refusal, value func(missingRight) string) string {
		return strings.Join(all(refusal, value), ", ")
	}
	command := func(m missingRight) string { return m.command }
	pattern := func(m missingRight) string { return m.pattern }
	add := func(f rightsFault) {
		f.masters = slices.DeleteFunc(all(f.refusal, func(m missingRight) string { return m.master }), func(master string) bool { return master == "" })
		faults = append(faults, f)
	}
	grant := func(refusal script.Refusal, found, rules, quoted string) {
		add(rightsFault{refusal: refusal, found: found, fix: "add " + rules + " to its ACL rules", command: fmt.Sprintf("ACL SETUSER %s %s", user, quoted)})
	}
	for _, refusal := range []script.Refusal{script.ReadOnly, script.NotStored, script.NoReplicas, script.NoMemory} {
		if reason, _ := refusal.AllWrites(); pick(refusal, command) != "" {
			found, fix, _ := strings.Cut(reason, ": ")
			add(rightsFault{refusal: refusal, found: found, fix: fix})
		}
	}
	if names := pick(script.NoCommand, command); names != "" {
		add(rightsFault{refusal: script.NoCommand, found: "this Redis has no " + names, fix: "its configuration renames or disables it"})
	}
	if names := pick(script.RefusedCommand, command); names != "" {
		rules := "+" + strings.ReplaceAll(strings.ToLower(names), ", ", " +")
		grant(script.RefusedCommand, fmt.Sprintf("redis user %q may not run %s", user, names), rules, rules)
	}
	if patterns := pick(script.RefusedKeys, pattern); patterns != "" {
		rule := "~" + prefix + ":*"
		grant(script.RefusedKeys, fmt.Sprintf("redis user %q may not use the keys %s", user, patterns), rule, "'"+rule+"'")
	}
	if patterns := pick(script.RefusedChannel, pattern); patterns != "" {
		rule := "&" + prefix + ":*"
		found := fmt.Sprintf("redis user %q may not %s to the channels %s", user, strings.ReplaceAll(pick(script.RefusedChannel, command), ", ", " or "), patterns)
		grant(script.RefusedChannel, found, rule, "'"+rule+"'")
	}
	return faults
}
