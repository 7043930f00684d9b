include "root" {
  path   = find_in_parent_folders("root.hcl")
  expose = true
}

terraform {
  source = try(values.module, "${dirname(find_in_parent_folders("root.hcl"))}/modules//proxmox-pool")
}

inputs = {
  proxmox = include.root.locals.stack.proxmox
  pools   = values.pools
}
