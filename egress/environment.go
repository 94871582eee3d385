package egress

// noProxy is what a client inside reaches without the proxy. Plain names and
// addresses only: a third of the clients do not understand ranges.
const noProxy = "localhost,127.0.0.1,::1"

// ClientEnvironment gives the variables that lead clients to the proxy at
// addr, as "127.0.0.1:3128" or what WithSecret makes of it. Both cases are set, since half of the clients
// read one; ALL_PROXY is an http:// URL, since a socks one breaks clients
// that cannot load socks.
func ClientEnvironment(addr string) map[string]string {
	proxy := "http://" + addr
	return map[string]string{
		"HTTP_PROXY": proxy, "http_proxy": proxy,
		"HTTPS_PROXY": proxy, "https_proxy": proxy,
		"ALL_PROXY": proxy, "all_proxy": proxy,
		"NO_PROXY": noProxy, "no_proxy": noProxy,
		"NODE_USE_ENV_PROXY":        "1", // Node reads none of them otherwise
		"npm_config_proxy":          proxy,
		"npm_config_https_proxy":    proxy,
		"npm_config_noproxy":        noProxy,
		"PIP_PROXY":                 proxy,
		"AWS_EC2_METADATA_DISABLED": "true", // botocore would ask the proxy for 169.254.169.254
	}
}
