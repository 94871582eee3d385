package launcher

// obeyed are names at the top of a folder that a program outside runs or obeys without being asked, once somebody works there. A script that a person
// has to call by its name is not among them.
type obeyed struct {
	names []string // as path.Match reads them
	by    string   // who does, as the end of a sentence
	place bool     // a folder that matters by being there; what is in it is not compared
}

// jupyterConfigs names the usual ones besides: they are found in a folder that was filled with too many names to be listed.
var jupyterConfigs = []string{
	"jupyter_config.py", "jupyter_server_config.py", "jupyter_lab_config.py", "jupyter_notebook_config.py", "jupyter_nbconvert_config.py",
	"jupyter_config.json", "jupyter_server_config.json", "jupyter_lab_config.json", "jupyter_notebook_config.json", "jupyter_nbconvert_config.json",
	"jupyter*_config.py", "jupyter*_config.json",
}

var obeyedNames = []obeyed{
	{names: []string{".envrc"}, by: "direnv runs it in the shell of whoever enters the folder"},
	{names: []string{".Rprofile"}, by: "R runs it when it starts there"},
	{names: []string{".RData"}, by: "R loads it when it starts there, and runs a .First that is in it"},
	{names: []string{".Renviron"}, by: "R takes its variables from it"},
	{names: jupyterConfigs, by: "Jupyter programs obey it when they are started there"},
	{names: []string{"ipykernel_launcher.py", "pip.py", "venv.py"}, by: "python -m runs it in place of its own, for an unconfined kernel too"},
	{names: []string{"sitecustomize.py", "usercustomize.py"}, by: "every Python runs it that has the folder on its path"},
	{names: []string{"conftest.py"}, by: "pytest runs it, also when an editor only looks for tests"},
	{names: []string{".git"}, place: true, by: "git runs what its configuration and hooks name"},
	{names: []string{"HEAD"}, by: "with objects and refs beside it git takes the folder for a repository, and runs what its configuration names"},
	{names: []string{".pre-commit-config.yaml"}, by: "pre-commit runs what it names at the next commit"},
	{names: []string{".venv", "venv", ".pixi"}, place: true, by: "editors and shells run the interpreter in it"},
	{names: []string{"pyvenv.cfg"}, by: "Python and editors take the folder for an environment"},
	{names: []string{".python-version"}, by: "uv and pyenv take their interpreter from it"},
	{names: []string{"uv.toml"}, by: "uv takes its settings and its package index from it"},
	{names: []string{".tool-versions", "mise.toml", ".mise.toml"}, by: "mise and asdf choose programs by it"},
	{names: []string{"pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini", "mypy.ini", ".mypy.ini", "pylintrc", ".pylintrc", ".lintr"}, by: "package tools, test runners and linters obey it, and load what it names"},
	{names: []string{".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml"}, by: "package tools of Node obey it, and run what it names"},
	{names: []string{"_quarto.yml", "_quarto.yaml"}, by: "quarto runs the scripts that it names"},
	{names: []string{".env"}, by: "editors and many programs take their variables from it"},
	{names: []string{".vscode", ".idea", ".devcontainer", ".devcontainer.json"}, by: "editors run the tasks and programs that it names"},
	{names: []string{".mcp.json", ".cursor", ".claude"}, by: "AI agents run the programs that it names"},
	{names: []string{"AGENTS.md", "CLAUDE.md"}, by: "AI agents follow it"},
}
