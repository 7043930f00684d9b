include "root" {
  path = find_in_parent_folders("root.hcl")
}

locals {
  stack_file = find_in_parent_folders("stack.hcl")
  stack      = read_terragrunt_config(local.stack_file).locals

  import_file = "${dirname(local.stack_file)}/imports/proxmox-vm.tf"
  imports     = fileexists(local.import_file) ? file(local.import_file) : ""
  importing   = flatten(regexall("proxmox_virtual_environment_vm\\.[^\\[]+\\[\"([^\"]+)\"\\]", local.imports))

  starting = get_env("STACKGEN_STARTING", "")
}

terraform {
  source = try(values.module, "${dirname(find_in_parent_folders("root.hcl"))}/modules//proxmox-vm")

  extra_arguments "parallelism" {
    commands  = ["apply", "destroy"]
    arguments = try(["-parallelism=${values.parallelism}"], [])
  }
}

# In a file: an environment variable has room for about 200 VMs.
generate "vms" {
  path              = "vms.auto.tfvars.json"
  if_exists         = "overwrite"
  disable_signature = true
  contents          = jsonencode({ vms = values.vms })
}

# The VMs that the import file imports. Until it is gone, the module leaves out what
# an import cannot read.
generate "importing" {
  path              = "importing_override.tf"
  if_exists         = "overwrite"
  disable_signature = true
  contents          = "locals {\n  importing = ${jsonencode(local.importing)}\n}\n"
}

# An override for a plan, from the file that the variable names. It starts VMs that an
# interrupted run created and did not start.
generate "starting" {
  path              = "starting_override.tf"
  if_exists         = "overwrite"
  disable_signature = true
  contents          = basename(local.starting) == "proxmox-vm.tf" ? file(local.starting) : "# Nothing to start.\n"
}

inputs = {
  proxmox = local.stack.proxmox
}
