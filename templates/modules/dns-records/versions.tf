terraform {
  required_version = ">= 1.10"

  required_providers {
    dns = {
      source  = "hashicorp/dns"
      version = ">= 3.4, < 4"
    }
  }
}

# The provider takes a TSIG key from one place only. The secret comes from
# DNS_UPDATE_KEYSECRET, so the unit sets DNS_UPDATE_KEYNAME and
# DNS_UPDATE_KEYALGORITHM beside it.
provider "dns" {
  update {
    server = var.dns.server
    port   = var.dns.port
  }
}
