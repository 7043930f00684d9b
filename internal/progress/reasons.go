package progress

// reason finds why an action failed, and what to do about it.
func reason(*Trouble, Item, string) {}
