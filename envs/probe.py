import importlib.machinery, importlib.util, json, os, site, sys, sysconfig
base = sys.base_prefix
sys.prefix, sys.exec_prefix = base, sys.base_exec_prefix
def sites(prefix):
    sys.prefix = sys.exec_prefix = prefix
    try:
        return [p for p in site.getsitepackages([prefix])]
    finally:
        sys.prefix, sys.exec_prefix = base, sys.base_exec_prefix
def has(name):
    try:
        return importlib.util.find_spec(name) is not None
    except Exception:
        return False
facts = {
    "path": getattr(sys, "_base_executable", None) or sys.executable, "prefix": base,
    "version": ".".join(map(str, sys.version_info[:3])), "implementation": sys.implementation.name,
    "platform": sysconfig.get_platform(), "abiflags": getattr(sys, "abiflags", ""), "platlibdir": getattr(sys, "platlibdir", "lib"),
    "stdlib": os.path.dirname(os.__file__), "extension_suffixes": importlib.machinery.EXTENSION_SUFFIXES,
    "stdlib_modules": sorted(getattr(sys, "stdlib_module_names", [])), "builtin_modules": sorted(sys.builtin_module_names),
    "site_packages": site.getsitepackages([base]), "env_site_packages": sites("@ENV@"),
    "has_venv": has("venv"), "has_ensurepip": has("ensurepip"),
}
sys.stdout.write("\nkernel-launch-probe " + json.dumps(facts) + "\n")
