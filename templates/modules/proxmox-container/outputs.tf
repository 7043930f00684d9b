locals {
  # The address that DNS publishes: the static one of the spec, or the one that the
  # first network device has.
  ipv4 = {
    for key, container in local.machines : key => (
      var.containers[key].ipv4 != null ? var.containers[key].ipv4 : local.reported[key] == "" ? null : local.reported[key]
    )
  }

  reported = {
    for key, container in local.machines : key => try(length(container.ipv4), 0) == 0 ? "" : try([
      for address in [split("/", container.ipv4[container.network_interface[0].name])[0]] : address
      if !startswith(address, "127.") && !startswith(address, "169.254.")
    ][0], "")
  }
}

output "containers" {
  description = "By key: id, name, node of the spec, ipv4 (null while unknown) and mac of the first network device."
  value = {
    for key, container in local.machines : key => {
      id   = var.containers[key].vm_id
      name = var.containers[key].initialization.hostname
      node = var.containers[key].node_name
      ipv4 = local.ipv4[key]
      mac  = try(lower(container.network_interface[0].mac_address), null)
    }
  }
}

output "meta" {
  description = "The meta of the spec, by key."
  value       = { for key, container in var.containers : key => jsondecode(container.meta) if container.meta != null }
}
