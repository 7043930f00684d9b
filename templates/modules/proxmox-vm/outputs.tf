locals {
  # The address that DNS publishes: the static one of the spec, or the first one
  # that the guest agent reports and that is neither loopback nor link-local. Only
  # interfaces with the MAC of a network device count: the guest may have bridges
  # and tunnels, in any order.
  ipv4 = {
    for key, vm in local.machines : key => (
      var.vms[key].ipv4 != null ? var.vms[key].ipv4 : local.reported[key] == "" ? null : local.reported[key]
    )
  }

  # A plan that changes a MAC has the interfaces of before. Its addresses are unknown,
  # so the result must be unknown too: a null would stay until the next apply.
  reported = {
    for key, vm in local.machines : key => try(length(vm.ipv4_addresses), 0) == 0 ? "" : try(flatten([
      for device in vm.network_device : [
        for i, mac in vm.mac_addresses : [
          for address in vm.ipv4_addresses[i] : address
          if !startswith(address, "127.") && !startswith(address, "169.254.")
        ] if lower(mac) == try(lower(device.mac_address), "")
      ]
    ])[0], null)
  }
}

output "vms" {
  description = "By key: id, name, node of the spec, ipv4 (null while unknown) and mac of the first network device."
  value = {
    for key, vm in local.machines : key => {
      id   = vm.vm_id
      name = vm.name
      node = var.vms[key].node_name
      ipv4 = local.ipv4[key]
      mac  = try(lower(vm.network_device[0].mac_address), null)
    }
  }
}

output "meta" {
  description = "The meta of the spec, by key."
  value       = { for key, vm in var.vms : key => jsondecode(vm.meta) if vm.meta != null }
}
