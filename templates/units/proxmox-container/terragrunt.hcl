include "root" {
  path = find_in_parent_folders("root.hcl")
}

locals {
  stack    = read_terragrunt_config(find_in_parent_folders("stack.hcl")).locals
  starting = get_env("STACKGEN_STARTING", "")
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

# An override for a plan, from the file that the variable names. It starts containers that an
# interrupted run created and did not start.
generate "starting" {
  path              = "starting_override.tf"
  if_exists         = "overwrite"
  disable_signature = true
  contents          = basename(local.starting) == "proxmox-container.tf" ? file(local.starting) : "# Nothing to start.\n"
}

inputs = {
  proxmox = local.stack.proxmox
}
