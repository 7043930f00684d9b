include "root" {
  path = find_in_parent_folders("root.hcl")
}

locals {
  stack = read_terragrunt_config(find_in_parent_folders("stack.hcl")).locals
}

terraform {
  source = try(values.module, "${dirname(find_in_parent_folders("root.hcl"))}/modules//proxmox-pool")
}

# In a file: OpenTofu would interpret text in an environment variable.
generate "pools" {
  path              = "pools.auto.tfvars.json"
  if_exists         = "overwrite"
  disable_signature = true
  contents          = jsonencode({ pools = values.pools })
}

inputs = {
  proxmox = local.stack.proxmox
}
