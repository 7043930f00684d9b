terraform {
  required_version = ">= 1.10"

  required_providers {
    proxmox = {
      source  = "bpg/proxmox"
      version = "0.111.1"
    }
  }
}

# A null endpoint comes from PROXMOX_VE_ENDPOINT, insecure from PROXMOX_VE_INSECURE.
# Credentials always come from the environment.
provider "proxmox" {
  endpoint = var.proxmox.endpoint
  insecure = var.proxmox.insecure
}
