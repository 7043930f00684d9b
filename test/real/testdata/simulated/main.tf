terraform {
  required_providers {
    proxmox = {
      source  = "bpg/proxmox"
      version = "= 0.111.1"
    }
  }
}

provider "proxmox" {}

variable "memory" {
  type    = number
  default = 2048
}

variable "disk" {
  type    = number
  default = 10
}

resource "proxmox_virtual_environment_pool" "lab" {
  pool_id = "lab"
  comment = "made by a test"
}

resource "proxmox_virtual_environment_vm" "web" {
  name          = "web-01"
  node_name     = "pve1"
  vm_id         = 201
  pool_id       = proxmox_virtual_environment_pool.lab.pool_id
  tags          = ["managed", "web"]
  description   = "full clone"
  started       = true
  on_boot       = false
  scsi_hardware = "virtio-scsi-pci"
  boot_order    = ["scsi0"]
  clone {
    vm_id = 9002
    full  = true
  }
  agent {
    enabled = true
    timeout = "1m"
  }
  cpu {
    cores = 2
    type  = "x86-64-v2-AES"
  }
  memory {
    dedicated = var.memory
  }
  disk {
    interface    = "scsi0"
    datastore_id = "local-lvm"
    size         = var.disk
    discard      = "on"
  }
  disk {
    interface    = "scsi1"
    datastore_id = "local-zfs"
    size         = 4
    file_format  = "raw"
  }
  network_device {
    bridge = "vmbr0"
  }
  operating_system {
    type = "l26"
  }
  serial_device {}
  vga {
    type = "serial0"
  }
  initialization {
    datastore_id = "local-lvm"
    ip_config {
      ipv4 {
        address = "192.0.2.50/24"
        gateway = "192.0.2.1"
      }
    }
    user_account {
      username = "ops"
      keys     = ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGoezYu6m5IuzK5MHLp50h5s3ovXAXpU2L3bT+qzOSs4 test@example.invalid"]
    }
  }
  lifecycle {
    ignore_changes = [clone, node_name]
  }
}

resource "proxmox_virtual_environment_vm" "db" {
  name      = "db-01"
  node_name = "pve2"
  vm_id     = 202
  tags      = ["db", "managed"]
  started   = false
  on_boot   = false
  clone {
    vm_id     = 9000
    node_name = "pve1"
    full      = false
  }
  lifecycle {
    ignore_changes = [clone, node_name]
  }
}
