# mine
