include "root" {
  path = find_in_parent_folders("root.hcl")
}

locals {
  stack = read_terragrunt_config(find_in_parent_folders("stack.hcl")).locals
}

terraform {
  source = try(values.module, "${dirname(find_in_parent_folders("root.hcl"))}/modules//dns-records")

  # A VM or container that is off, or whose guest agent is silent, reports no address. Its records
  # stay as they are in DNS and in state, and other records are not affected.
  extra_arguments "without_address" {
    commands = ["apply", "plan", "refresh"]
    arguments = contains(get_terraform_cli_args(), "-destroy") ? [] : [
      for name, record in values.records : "-exclude=dns_a_record_set.this[\"${name}\"]"
      if try(
        dependency.proxmox-vm.outputs.vms[record.vm].ipv4,
        dependency.proxmox-container.outputs.containers[record.vm].ipv4, "",
      ) == null
    ]
  }

  # The provider takes the key of its updates from one place: name and algorithm
  # are set together with DNS_UPDATE_KEYSECRET, which you must set.
  extra_arguments "dns_key" {
    commands = ["apply", "destroy", "import", "plan", "refresh"]
    env_vars = local.stack.dns.key_name == null ? {} : {
      DNS_UPDATE_KEYNAME      = local.stack.dns.key_name
      DNS_UPDATE_KEYALGORITHM = local.stack.dns.key_algorithm
    }
  }
}

generate "records" {
  path              = "records.auto.tfvars.json"
  if_exists         = "overwrite"
  disable_signature = true
  contents          = jsonencode({ records = values.records })
}

inputs = {
  dns = local.stack.dns
}
