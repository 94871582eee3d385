package sandbox

// Patterns with slashes, for every drive. A folder whose rights are inherited by the whole machine, or by everyone's files, is never given away: changing
// it rewrites the rights of all that lies in it, at every start.
var windowsBroad = []string{
	"?:", "?:/Users", "?:/Users/*", "?:/Users/*/AppData", "?:/Users/*/AppData/*", "?:/ProgramData", "?:/Program Files", "?:/Program Files (x86)", "?:/Windows",
	"?:/Documents and Settings", "?:/Users/*/AppData/Local/*",
}

var windowsNever = []string{
	"?:/Windows", "?:/$Recycle.Bin", "?:/System Volume Information", "?:/Recovery", "?:/Users/*/AppData/Local/Microsoft", "?:/Users/*/AppData/Roaming/Microsoft",
	"?:/Users/*/AppData/Local/Packages",
}

var windowsSystem = []string{"?:/Program Files", "?:/Program Files (x86)", "?:/ProgramData", "?:/Users/*/AppData/Roaming/*/Startup"}

// windowsOpen can be read by every container as Windows is installed: nothing is granted there.
var windowsOpen = []string{"?:/Windows", "?:/Program Files", "?:/Program Files (x86)"}

// windowsAliases are where the Store keeps stand-ins for its programs: a file of no length that no container can run.
var windowsAliases = []string{"?:/Users/*/AppData/Local/Microsoft/WindowsApps"}

// projectSecrets stand in a project's root. Rights stand on single files here, so that names have to be known.
var projectSecrets = []string{".env", ".env.development", ".env.local", ".env.production", ".env.test", ".envrc"}

// windowsSensitive lie in a home folder and hold keys or passwords.
var windowsSensitive = []string{
	".aws", ".azure", ".docker", ".gnupg", ".kube", ".netrc", ".pypirc", ".ssh", "_netrc", `AppData\Roaming\gcloud`, `AppData\Roaming\GitHub CLI`, `AppData\Roaming\gnupg`,
}
