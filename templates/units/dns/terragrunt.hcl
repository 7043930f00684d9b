include "root" {
  path   = find_in_parent_folders("root.hcl")
  expose = true
}

terraform {
  source = try(values.module, "${dirname(find_in_parent_folders("root.hcl"))}/modules//dns-records")
}

generate "records" {
  path              = "records.auto.tfvars.json"
  if_exists         = "overwrite"
  disable_signature = true
  contents          = jsonencode({ records = values.records })
}

inputs = {
  dns = include.root.locals.stack.dns
}
