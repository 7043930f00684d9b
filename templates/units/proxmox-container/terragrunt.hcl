include "root" {
  path   = find_in_parent_folders("root.hcl")
  expose = true
}

terraform {
  source = try(values.module, "${dirname(find_in_parent_folders("root.hcl"))}/modules//proxmox-container")

  extra_arguments "parallelism" {
    commands  = ["apply", "destroy"]
    arguments = try(["-parallelism=${values.parallelism}"], [])
  }
}

# In a file: an environment variable has room for a limited number of containers.
generate "containers" {
  path              = "containers.auto.tfvars.json"
  if_exists         = "overwrite"
  disable_signature = true
  contents          = jsonencode({ containers = values.containers })
}

inputs = {
  proxmox = include.root.locals.stack.proxmox
}
