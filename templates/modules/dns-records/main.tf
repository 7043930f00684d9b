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
  addresses = [coalesce(lookup(var.addresses, each.value.vm, null), "192.0.2.1")] # never applied
  ttl       = each.value.ttl

  lifecycle {
    # A plan excludes the records of such VMs. A destroy reads the resource first, and
    # only warns.
    precondition {
      condition = lookup(var.addresses, each.value.vm, null) != null
      error_message = join(" ", [
        "VM ${each.value.vm} reports no IPv4 address, so its record ${each.key} can be neither",
        "created nor updated. Run terragrunt in the folder of the unit or of the stack: it excludes the record.",
      ])
    }
  }
}

output "records" {
  description = "The published names and their addresses."
  value       = { for name, record in dns_a_record_set.this : name => record.addresses }
}
