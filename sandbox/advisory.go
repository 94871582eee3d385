package sandbox

// patched is the first bubblewrap that does not follow a link at a mount's destination (CVE-2026-87766).
const patched = "0.12.0"

// Advisory says what is known against a version of bubblewrap, and why it does not matter here; "" when there is nothing.
func Advisory(version string) string {
	if !older(version, patched) {
		return ""
	}
	return "it follows a link that a program inside plants where something is mounted at the next start (CVE-2026-87766, fixed in " + patched +
		"); no plan mounts anything beneath a folder that can be written, but read-only islands, which are opened without following links and compared from inside"
}
