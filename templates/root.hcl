# What every unit shares. A unit lies in stacks/<stack>/.terragrunt-stack/<unit>,
# so the stack's own settings are found above it.
locals {
  stack = read_terragrunt_config(find_in_parent_folders("stack.hcl")).locals
  unit  = basename(get_terragrunt_dir())
  key   = "${local.stack.state_key}/${local.unit}/tofu.tfstate"
  ca    = local.stack.proxmox.ca_file
}

terragrunt_version_constraint = ">= 1.1"
terraform_version_constraint  = ">= 1.10"

# Local state lies beside the stacks, not below .terragrunt-stack, where
# `terragrunt stack clean` would delete it.
remote_state {
  backend = local.stack.backend.type
  generate = {
    path      = "backend.tf"
    if_exists = "overwrite"
  }
  config = merge(local.stack.backend.config, {
    (local.stack.backend.type == "s3" ? "key" : "path") = local.stack.backend.type == "s3" ? local.key : "${get_parent_terragrunt_dir()}/.state/${local.key}"
  })
}

terraform {
  # The guard looks at the cluster before anything is changed, and refuses what
  # nobody asked for. A run without stackgen on PATH ends here, on purpose.
  before_hook "stackgen" {
    if       = local.stack.guard != "off"
    commands = startswith(local.unit, "dns") ? ["destroy"] : ["apply", "destroy"]
    execute  = concat(["stackgen", "guard", "--project", get_parent_terragrunt_dir(), "${local.stack.stack}/${local.unit}", "--"], get_terraform_cli_args())
  }

  # A certificate authority of the cluster's own, for the provider.
  extra_arguments "proxmox_ca" {
    commands = ["apply", "destroy", "import", "plan", "refresh"]
    env_vars = local.ca == null ? {} : { SSL_CERT_FILE = startswith(local.ca, "/") ? local.ca : "${get_parent_terragrunt_dir()}/${local.ca}" }
  }
}
