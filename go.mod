module stackgen

go 1.26

require (
	github.com/agext/levenshtein v1.2.1
	gopkg.in/yaml.v3 v3.0.1
)
