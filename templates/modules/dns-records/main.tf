variable "dns" {
  description = "The zone and the server that takes its updates."
  type = object({
    zone   = string
    server = string
    port   = optional(number, 53)
  })
}

variable "records" {
  description = "Records by name, relative to the zone (@ is the zone): the key of the VM and the TTL in seconds."
  type = map(object({
    vm  = string
    ttl = number
  }))
}

variable "addresses" {
  description = "IPv4 addresses of the VMs by key; null while unknown."
  type        = map(string)
  default     = {}
}

resource "dns_a_record_set" "this" {
  for_each = var.records

  zone      = var.dns.zone
  name      = each.key == "@" ? null : each.key
  addresses = [lookup(var.addresses, each.value.vm, null)]
  ttl       = each.value.ttl

  lifecycle {
    precondition {
      condition = lookup(var.addresses, each.value.vm, null) != null
      error_message = join(" ", [
        "VM ${each.value.vm} has reported no IPv4 address, so its record ${each.key} cannot be published.",
        "Its QEMU guest agent does not run, or has not seen an address yet: install and start",
        "qemu-guest-agent in the guest, or give the VM a static address in the spec. Then apply again.",
      ])
    }
  }
}

output "records" {
  description = "The published names and their addresses."
  value       = { for name, record in dns_a_record_set.this : name => record.addresses }
}
