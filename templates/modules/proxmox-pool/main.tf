variable "proxmox" {
  description = "How to reach the cluster. What is null comes from the environment."
  type = object({
    endpoint = optional(string)
    insecure = optional(bool)
  })
  default = {}
}

variable "pools" {
  description = "Pools by id."
  type = map(object({
    comment = optional(string)
  }))
}

resource "proxmox_virtual_environment_pool" "this" {
  for_each = var.pools

  pool_id = each.key
  comment = each.value.comment
}

output "pools" {
  description = "The ids of the pools."
  value       = [for pool in proxmox_virtual_environment_pool.this : pool.pool_id]
}
