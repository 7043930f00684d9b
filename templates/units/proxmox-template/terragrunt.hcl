include "root" {
  path   = find_in_parent_folders("root.hcl")
  expose = true
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
  proxmox = include.root.locals.stack.proxmox
}
