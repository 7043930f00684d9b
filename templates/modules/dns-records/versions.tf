terraform {
  required_version = ">= 1.10"

  required_providers {
    dns = {
      source  = "hashicorp/dns"
      version = ">= 3.4, < 4"
    }
  }
}

# The secret of the key comes from DNS_UPDATE_KEYSECRET.
provider "dns" {
  update {
    server        = var.dns.server
    port          = var.dns.port
    key_name      = var.dns.key_name
    key_algorithm = var.dns.key_algorithm
  }
}
