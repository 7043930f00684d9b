import {
  to = x.y
  id = "1"
}
