module stackgen

go 1.26
