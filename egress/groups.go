package egress

import (
	"maps"
	"slices"
)

// groups are lists of exact hosts. "bio" is what a kernel gets by default, so
// it holds archives that are read and no host that takes what others then
// download.
var groups = map[string][]string{
	"python": {"pypi.org", "files.pythonhosted.org"},
	"r": {
		"cran.r-project.org", "cloud.r-project.org", "packagemanager.posit.co", "bioconductor.org",
		"www.bioconductor.org",
	},
	"conda": {"conda.anaconda.org", "repo.anaconda.com", "api.anaconda.org", "repo.prefix.dev"},
	"huggingface": {
		"huggingface.co", "hf.co", "cdn-lfs.huggingface.co", "cdn-lfs-us-1.huggingface.co", "cdn-lfs-eu-1.huggingface.co",
		"cdn-lfs.hf.co", "cdn-lfs-us-1.hf.co", "cdn-lfs-eu-1.hf.co", "cas-bridge.xethub.hf.co", "cas-server.xethub.hf.co", "transfer.xethub.hf.co",
	},
	"github": {
		"github.com", "api.github.com", "codeload.github.com", "raw.githubusercontent.com", "objects.githubusercontent.com",
		"release-assets.githubusercontent.com", "media.githubusercontent.com",
	},
	"bio": {
		// NCBI
		"www.ncbi.nlm.nih.gov", "eutils.ncbi.nlm.nih.gov", "api.ncbi.nlm.nih.gov", "ftp.ncbi.nlm.nih.gov", "pubchem.ncbi.nlm.nih.gov",
		// EMBL-EBI and Ensembl
		"www.ebi.ac.uk", "ftp.ebi.ac.uk", "ftp.sra.ebi.ac.uk", "alphafold.ebi.ac.uk", "rest.ensembl.org", "www.ensembl.org", "ftp.ensembl.org",
		"ftp.ensemblgenomes.ebi.ac.uk",
		// UniProt, the Protein Data Bank
		"rest.uniprot.org", "www.uniprot.org", "ftp.uniprot.org", "files.rcsb.org", "data.rcsb.org", "search.rcsb.org", "www.rcsb.org", "files.wwpdb.org",
		// UCSC
		"genome.ucsc.edu", "api.genome.ucsc.edu", "hgdownload.soe.ucsc.edu", "hgdownload.cse.ucsc.edu",
		// pathways, interactions, cancer, model organisms, Bioconductor's data hubs
		"rest.kegg.jp", "reactome.org", "download.reactome.org", "string-db.org", "stringdb-downloads.org", "api.gdc.cancer.gov", "gtexportal.org",
		"purl.obolibrary.org", "annotationhub.bioconductor.org", "experimenthub.bioconductor.org",
	},
}

// Group gives the rules of a named group, each an exact host on ports 443 and
// 80; false when there is no such group.
func Group(name string) ([]Rule, bool) {
	hosts, ok := groups[name]
	if !ok {
		return nil, false
	}
	rules := make([]Rule, 0, len(hosts))
	for _, h := range hosts {
		rules = append(rules, Rule{name: h})
	}
	return rules, true
}

// GroupNames lists the groups, sorted.
func GroupNames() []string { return slices.Sorted(maps.Keys(groups)) }
