include "root" {
  path   = find_in_parent_folders("root.hcl")
  expose = true
}

terraform {
  source = try(values.module, "${dirname(find_in_parent_folders("root.hcl"))}/modules//proxmox-vm")

  extra_arguments "parallelism" {
    commands  = ["apply", "destroy"]
    arguments = try(["-parallelism=${values.parallelism}"], [])
  }
}

# The VMs travel in a file: as an environment variable, some two hundred of them
# would be longer than a process may be given.
generate "vms" {
  path              = "vms.auto.tfvars.json"
  if_exists         = "overwrite"
  disable_signature = true
  contents          = jsonencode({ vms = values.vms })
}

inputs = {
  proxmox = include.root.locals.stack.proxmox
}
