include "root" {
  path = find_in_parent_folders("root.hcl")
}

locals {
  stack = read_terragrunt_config(find_in_parent_folders("stack.hcl")).locals
}

terraform {
  source = try(values.module, "${dirname(find_in_parent_folders("root.hcl"))}/modules//proxmox-template")

  extra_arguments "parallelism" {
    commands  = ["apply", "destroy"]
    arguments = try(["-parallelism=${values.parallelism}"], [])
  }
}

generate "vms" {
  path              = "vms.auto.tfvars.json"
  if_exists         = "overwrite"
  disable_signature = true
  contents          = jsonencode({ vms = values.vms })
}

inputs = {
  proxmox = local.stack.proxmox
}
